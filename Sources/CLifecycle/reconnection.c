#define _GNU_SOURCE
#include "CLifecycle.h"
#include "close.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

static bool set_path(struct sockaddr_un *address, const char *path) {
    size_t length = strlen(path);
    if (path[0] != '/' || length >= sizeof address->sun_path) return false;
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length + 1);
    return true;
}

const char *lifecycle_find_socket_path(void) {
    struct sockaddr_un address;
    const char *path = getenv("LIFECYCLE_SOCKET");
    return path && set_path(&address, path) ? path : NULL;
}

int lifecycle_connect(const char *path) {
    struct sockaddr_un address;
    if (!set_path(&address, path)) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    close_quietly(fd);
    return -1;
}

int lifecycle_timer_create(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

void lifecycle_timer_set(int timer, int64_t milliseconds) {
    struct itimerspec due = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000000}};
    // Fails only for a time that is none.
    timerfd_settime(timer, 0, &due, NULL);
}

bool lifecycle_timer_take(int timer) {
    uint64_t count;
    return read(timer, &count, sizeof count) == sizeof count;
}
