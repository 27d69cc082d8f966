#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Not in the headers of kernels before 5.2.
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

// A reader that is ready to run, and does not get to it on a busy machine, has so many times as long.
#define BUSY_ROUNDS 20

// A reader that did not end when it was killed: kernels before 5.3 do not interrupt it.
static pid_t abandoned;

// Runs in the child: system calls only. The signals are blocked, so a closed pipe is an error.
static _Noreturn void copy_file(const char *path, int pipe, size_t limit)
{
    char bytes[4096];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file;
    for (size_t left = limit; count >= 0 && left > 0; left -= (size_t)count) {
        count = read(file, bytes, left < sizeof bytes ? left : sizeof bytes);
        if (count == 0 || (count > 0 && write(pipe, bytes, (size_t)count) != count))
            break;
    }
    _exit(count < 0 ? errno : 0);
}

static bool is_ready_to_run(pid_t pid)
{
    char path[32], text[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    text[count > 0 ? count : 0] = 0;
    const char *name_end = strrchr(text, ')');
    return name_end && strncmp(name_end, ") R", 3) == 0;
}

static bool is_ready(int descriptor, int milliseconds)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    return poll(&ready, 1, milliseconds) == 1;
}

// Reads what the reader writes, up to its end. Returns the number of bytes, or -ETIMEDOUT.
static ssize_t receive(pid_t pid, int pipe, uint8_t *bytes, size_t limit, int milliseconds)
{
    size_t total = 0;
    int rounds = 0;
    while (total < limit) {
        if (is_ready(pipe, milliseconds)) {
            ssize_t count = read(pipe, bytes + total, limit - total);
            if (count <= 0)
                break;
            total += (size_t)count;
        } else if (rounds++ == BUSY_ROUNDS || !is_ready_to_run(pid)) {
            return -ETIMEDOUT;
        }
    }
    return (ssize_t)total;
}

// Returns 0, the negated errno of the reader, -ETIMEDOUT if it had to be killed, or -EBUSY if it could not be.
static int end_reader(pid_t pid, int pidfd, int milliseconds)
{
    int status = 0;
    linux_pidfd_send_signal(pidfd, SIGKILL);
    if (!is_ready(pidfd, milliseconds)) {
        abandoned = pid;
        return -EBUSY;
    }
    waitpid(pid, &status, __WALL);
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
}

ssize_t linux_read_in_time(const char *path, uint8_t *bytes, size_t limit, int milliseconds)
{
    if (abandoned != 0 && waitpid(abandoned, NULL, __WALL | WNOHANG) == 0)
        return -EBUSY;
    abandoned = 0;
    int ends[2], pidfd = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    // The reader would run the handlers of this process.
    sigset_t all, previous;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &previous);
    // Without a signal at its end it is no child that wait(2) tells of.
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PIDFD, NULL, &pidfd, NULL, NULL);
    if (pid == 0)
        copy_file(path, ends[1], limit);
    ssize_t count = pid < 0 ? -errno : 0;
    sigprocmask(SIG_SETMASK, &previous, NULL);
    close(ends[1]);
    if (pid > 0) {
        count = receive(pid, ends[0], bytes, limit, milliseconds);
        int error = end_reader(pid, pidfd, milliseconds);
        if (error != 0 && count != (ssize_t)limit)
            count = error;
        close(pidfd);
    }
    close(ends[0]);
    return count;
}
