// The system calls of the probe that Swift does not import: macros, unions, siginfo_t, and pidfd_send_signal(2), which
// glibc declares since 2.36 only. What must not fail ends the probe.
#pragma once

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const uint32_t probe_input = 1, probe_children = 2;

static inline int probe_checked(int result, const char *what) {
    if (result < 0) err(1, "%s", what);
    return result;
}

// Starts an app of one process in a session of its own, without blocked signals, with /dev/null as its standard input.
static inline int probe_spawn(const char *program, const char *notes) {
    char *const arguments[] = {(char *)program, (char *)notes, (char *)"1", NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none;
    pid_t pid;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, 0x80 /* POSIX_SPAWN_SETSID */ | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    int error = posix_spawn(&pid, program, &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = error;
    return probe_checked(error ? -1 : pid, program);
}

static inline int probe_open_pidfd(pid_t pid) {
    return probe_checked((int)syscall(SYS_pidfd_open, pid, 0), "pidfd_open");
}

// A process that has ended gets none, and SIGCHLD says so.
static inline void probe_send_signal(int pidfd, int signal) { syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0); }

// Opens the file of the state record in the working directory.
static inline int probe_open_record(void) {
    return probe_checked(open("state", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), "state");
}

// Writes the two slots in turn: if a write is torn, the slot before it is still whole.
static inline void probe_write_record(int file, const void *record, size_t size, uint32_t sequence) {
    if (pwrite(file, record, size, (off_t)(sequence & 1) * (off_t)size) != (ssize_t)size) err(1, "state");
}

// Blocks SIGCHLD, and returns a descriptor that reports it.
static inline int probe_open_children(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return probe_checked(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
}

// Returns the process of the pending SIGCHLD unless it was only continued, else 0.
static inline int probe_read_child(int children) {
    struct signalfd_siginfo info;
    if (read(children, &info, sizeof info) != (ssize_t)sizeof info) return 0;
    return info.ssi_code == CLD_CONTINUED ? 0 : (int)info.ssi_pid;
}

// Collects a stop or the end of a child, and returns its CLD_ code; 0 if the child did neither.
static inline int probe_collect(int pidfd) {
    siginfo_t info = {.si_pid = 0};
    waitid((idtype_t)3 /* P_PIDFD */, (id_t)pidfd, &info, WSTOPPED | WEXITED | WNOHANG);
    return info.si_pid ? info.si_code : 0;
}

// Returns an epoll(7) descriptor for the standard input and for the children.
static inline int probe_open_epoll(int children) {
    int epoll = probe_checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    struct epoll_event input = {.events = EPOLLIN, .data.u32 = probe_input};
    struct epoll_event changes = {.events = EPOLLIN, .data.u32 = probe_children};
    probe_checked(epoll_ctl(epoll, EPOLL_CTL_ADD, STDIN_FILENO, &input), "epoll_ctl");
    probe_checked(epoll_ctl(epoll, EPOLL_CTL_ADD, children, &changes), "epoll_ctl");
    return epoll;
}

// Waits without a limit, and returns the set of the sources that are ready.
static inline uint32_t probe_wait(int epoll) {
    struct epoll_event events[2];
    uint32_t sources = 0;
    int count = epoll_wait(epoll, events, 2, -1);
    if (count < 0 && errno != EINTR) err(1, "epoll_wait");
    for (int each = 0; each < count; each++) sources |= events[each].data.u32;
    return sources;
}

// Reads behind the first `used` bytes of a buffer.
static inline ssize_t probe_read(void *buffer, size_t used, size_t capacity) {
    return read(STDIN_FILENO, (char *)buffer + used, capacity - used);
}

static inline ssize_t probe_reply(const void *bytes, size_t count) {
    return send(STDIN_FILENO, bytes, count, MSG_NOSIGNAL);
}

static inline long probe_microseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

// True if a JSON number or literal may have this byte.
static inline bool probe_is_scalar(uint8_t byte) { return isalnum(byte) || byte == '+' || byte == '-' || byte == '.'; }
