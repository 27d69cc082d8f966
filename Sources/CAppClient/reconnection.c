#define _GNU_SOURCE
#include "CAppClient.h"
#include "close.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    const char *path = secure_getenv("LIFECYCLE_SOCKET");
    return path && set_path(&address, path) ? path : NULL;
}

const char *lifecycle_own_socket_path(int index) {
    static char own[sizeof((struct sockaddr_un *)0)->sun_path];
    // The channel of an app is its own process's, and not that of every program below it.
    if (secure_getenv("LIFECYCLE_LAUNCH")) return NULL;
    const char *named = secure_getenv("LIFECYCLE_SOCKET");
    if (named) return index == 0 ? lifecycle_find_socket_path() : NULL;
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (index == 0 && runtime && runtime[0] == '/') {
        int length = snprintf(own, sizeof own, "%s/lifed/channel", runtime);
        if (length > 0 && (size_t)length < sizeof own) return own;
    }
    return index <= 1 ? "/run/lifed/channel" : NULL;
}

// In a user namespace without root, the kernel shows root as the overflow user.
static bool is_outside_of_user_namespace(uid_t user) {
    enum { OVERFLOW_USER = 65534 };
    char map[64] = "";
    if (user != OVERFLOW_USER) return false;
    int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t length = read(fd, map, sizeof map - 1);
    close(fd);
    unsigned long inside, outside, count;
    return length > 0 && sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 && count != 4294967295UL;
}

// The daemon runs as root or as the user of the app: an app must not obey another user.
static bool is_of_daemon(int fd) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return false;
    return peer.uid == 0 || peer.uid == geteuid() || peer.uid == getuid() || is_outside_of_user_namespace(peer.uid);
}

int lifecycle_connect(const char *path) {
    struct sockaddr_un address;
    if (!set_path(&address, path)) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return fd;
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        if (is_of_daemon(fd)) return fd;
        errno = EPERM;
    }
    close_quietly(fd);
    return -1;
}

int lifecycle_timer_create(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

void lifecycle_timer_set(int timer, int64_t milliseconds) {
    struct itimerspec due = {.it_value = {milliseconds / 1000, milliseconds % 1000 * 1000000}};
    // Fails only for an invalid time.
    timerfd_settime(timer, 0, &due, NULL);
}

bool lifecycle_timer_take(int timer) {
    uint64_t count;
    return read(timer, &count, sizeof count) == sizeof count;
}
