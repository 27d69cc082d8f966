#define _GNU_SOURCE
#include "CAppClient.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

int lifecycle_poller_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int lifecycle_poller_add(int poller, int fd) {
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

int lifecycle_poller_want_output(int poller, int fd, bool wants_output) {
    struct epoll_event event = {.events = EPOLLIN | (wants_output ? EPOLLOUT : 0)};
    return epoll_ctl(poller, EPOLL_CTL_MOD, fd, &event);
}

void lifecycle_poller_remove(int poller, int fd) { epoll_ctl(poller, EPOLL_CTL_DEL, fd, NULL); }

int lifecycle_waker_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void lifecycle_wake(int waker) {
    // Fails only if the counter is full; the descriptor is readable then.
    eventfd_write(waker, 1);
}

void lifecycle_waker_reset(int waker) {
    eventfd_t count;
    eventfd_read(waker, &count);
}
