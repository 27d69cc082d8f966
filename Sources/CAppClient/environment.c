#define _GNU_SOURCE
#include "CAppClient.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// The process that has claimed the channel in this memory, which a forked child has a copy of.
static _Atomic pid_t holder;

// The owner of a socket is kept in its open file description: every process that inherited the channel sees it.
static bool belongs_to_other(int fd) {
    if (holder != 0 && holder != getpid()) return true;
    pid_t owner = fcntl(fd, F_GETOWN);
    return owner > 0 && owner != getpid() && (kill(owner, 0) == 0 || errno != ESRCH);
}

static const char belongs_to_another_process[] = "LIFECYCLE_FD names the channel of another process";

// Returns NULL with the channel that the environment names, or else the reason why this process has none.
static const char *look_for_channel(int *channel) {
    const char *number = secure_getenv("LIFECYCLE_FD");
    const char *identity = secure_getenv("LIFECYCLE_CHANNEL");
    const char *socket = secure_getenv("LIFECYCLE_SOCKET");
    if (socket && !*socket) return "LIFECYCLE_SOCKET is empty";
    if (!number) return "LIFECYCLE_FD is not set, and no daemon listens";
    int fd = parse_descriptor(number);
    if (fd < 0 || !identity || !has_identity(fd, identity)) return "LIFECYCLE_FD does not name the socket in LIFECYCLE_CHANNEL";
    if (belongs_to_other(fd)) return belongs_to_another_process;
    *channel = fd;
    return NULL;
}

// Two processes may look at the same time. The lock is of a process: a claim in progress is a claim of another one.
static bool claim_channel(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES)) return false;
    bool is_free = !belongs_to_other(fd) && fcntl(fd, F_SETOWN, getpid()) == 0;
    if (is_free) holder = getpid();
    lock.l_type = F_UNLCK;
    fcntl(fd, F_SETLK, &lock);
    return is_free;
}

int lifecycle_claim_channel(void) {
    int channel;
    return look_for_channel(&channel) == NULL && claim_channel(channel) ? channel : -1;
}

static void say(const char *reason) {
    if (secure_getenv("LIFECYCLE_VERBOSE"))
        fprintf(stderr, "lifecycle: cannot find a channel to lifed: %s; continuing as a foreground app\n", reason);
}

// The directory of the state after its variable was removed, and the process that has removed it.
static char kept_directory[PATH_MAX];
static _Atomic pid_t keeper;

void lifecycle_disclaim_channel(int fd) {
    fcntl(fd, F_SETOWN, 0);
    holder = 0;
}

void lifecycle_abandon_channel(int fd) {
    lifecycle_disclaim_channel(fd);
    keeper = 0;
    close(fd);
    say("lifed does not manage this process");
}

// The variables of an app are inherited by every program below it, which must not replace the state of the app. An app without
// callbacks has no channel to tell them apart by.
static bool has_state(void) {
    if (holder == getpid()) return true;
    int channel;
    if (secure_getenv("LIFECYCLE_FD") || secure_getenv("LIFECYCLE_CHANNEL")) return look_for_channel(&channel) == NULL;
    return true;
}

const char *lifecycle_state_directory(void) {
    const char *path = secure_getenv("LIFECYCLE_STATE_DIR");
    if (path && *path && has_state()) return path;
    if (!path && keeper == getpid()) return kept_directory;
    errno = ENOENT;
    return NULL;
}

static void keep_state_directory(void) {
    const char *path = lifecycle_state_directory();
    if (!path || strlen(path) >= sizeof kept_directory) return;
    memmove(kept_directory, path, strlen(path) + 1);
    keeper = getpid();
}

void lifecycle_adopt_channel(int fd, bool removes_variables) {
    if (fd < 0) {
        int channel;
        const char *reason = look_for_channel(&channel);
        say(reason ? reason : belongs_to_another_process);
    } else {
        // Does not fail for a descriptor that is open.
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    if (removes_variables) {
        keep_state_directory();
        unsetenv("LIFECYCLE_FD");
        unsetenv("LIFECYCLE_CHANNEL");
        unsetenv("LIFECYCLE_SOCKET");
        unsetenv("LIFECYCLE_STATE_DIR");
    }
}
