#define _GNU_SOURCE
#include "CLifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int parse_descriptor(const char *text) {
    if (*text < '0' || *text > '9') return -1;
    errno = 0;
    char *end;
    long number = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

// A program that inherited the variable without the channel may have another descriptor at this number.
static bool is_channel(int fd) {
    int domain, type;
    socklen_t size = sizeof domain;
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return false;
    size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) return false;
    struct sockaddr_storage peer;
    size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

// The number of the channel that the variable still names, in use or closed. It is not found again: a forked child shares
// the channel, and the program may have another descriptor at the number of a closed one.
static atomic_int adopted = -1;

int lifecycle_find_channel(void) {
    const char *text = secure_getenv("LIFECYCLE_FD");
    int fd = text ? parse_descriptor(text) : -1;
    return fd >= 0 && fd != adopted && is_channel(fd) ? fd : -1;
}

static void say_why_there_is_none(void) {
    const char *reason = secure_getenv("LIFECYCLE_FD") ? "LIFECYCLE_FD names no channel" : "LIFECYCLE_FD is not set, and no daemon listens";
    if (secure_getenv("LIFECYCLE_VERBOSE"))
        fprintf(stderr, "lifecycle: cannot find a channel to lifed: %s; continuing as a foreground app\n", reason);
}

void lifecycle_adopt_channel(int fd, bool removes_variables) {
    // Does not fail for a descriptor that is open.
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    else say_why_there_is_none();
    if (removes_variables) {
        unsetenv("LIFECYCLE_FD");
        unsetenv("LIFECYCLE_SOCKET");
        adopted = -1;
    } else if (fd >= 0) {
        adopted = fd;
    }
}

static enum lifecycle_io outcome(ssize_t result, size_t *count) {
    *count = result > 0 ? (size_t)result : 0;
    if (result > 0) return LIFECYCLE_IO_DONE;
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? LIFECYCLE_IO_WOULD_BLOCK : LIFECYCLE_IO_ENDED;
}

// Flags of the calls, not of the descriptor, which a child process may share.
enum lifecycle_io lifecycle_receive(int fd, void *bytes, size_t capacity, size_t *count) {
    ssize_t result;
    do result = recv(fd, bytes, capacity, MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    return outcome(result, count);
}

enum lifecycle_io lifecycle_send(int fd, const void *bytes, size_t length, size_t *count) {
    ssize_t result;
    do result = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (result < 0 && errno == EINTR);
    return outcome(result, count);
}

void lifecycle_shut_down(int fd) { shutdown(fd, SHUT_RDWR); }

void lifecycle_close_descriptor(int fd) { close(fd); }
