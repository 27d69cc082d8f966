#define _GNU_SOURCE
#include "CLifecycle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int parse_descriptor(const char *text) {
    if (*text < '0' || *text > '9') return -1;
    errno = 0;
    char *end;
    long number = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' && number <= INT_MAX ? (int)number : -1;
}

// A program that inherited the variables without the channel may have another socket at this number.
static bool has_identity(int fd, const char *identity) {
    struct stat status;
    if (fstat(fd, &status) != 0) return false;
    char own[64];
    snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    return strcmp(own, identity) == 0;
}

// The number of the channel that the variable still names, in use or closed. It is not found again: a forked child shares
// the channel.
static atomic_int adopted = -1;

// Returns NULL with the channel that the environment names, or else the reason why this process has none.
static const char *look_for_channel(int *channel) {
    const char *number = secure_getenv("LIFECYCLE_FD");
    const char *identity = secure_getenv("LIFECYCLE_CHANNEL");
    if (!number) return "LIFECYCLE_FD is not set, and no daemon listens";
    int fd = parse_descriptor(number);
    if (fd < 0 || !identity || !has_identity(fd, identity)) return "LIFECYCLE_FD does not name the socket in LIFECYCLE_CHANNEL";
    if (fd == adopted) return "LIFECYCLE_FD names the channel of another process";
    *channel = fd;
    return NULL;
}

int lifecycle_find_channel(void) {
    int channel;
    return look_for_channel(&channel) == NULL ? channel : -1;
}

static void say_why_there_is_none(void) {
    int channel;
    const char *reason = look_for_channel(&channel);
    if (reason && secure_getenv("LIFECYCLE_VERBOSE"))
        fprintf(stderr, "lifecycle: cannot find a channel to lifed: %s; continuing as a foreground app\n", reason);
}

void lifecycle_adopt_channel(int fd, bool removes_variables) {
    // Does not fail for a descriptor that is open.
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
    else say_why_there_is_none();
    if (removes_variables) {
        unsetenv("LIFECYCLE_FD");
        unsetenv("LIFECYCLE_CHANNEL");
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
