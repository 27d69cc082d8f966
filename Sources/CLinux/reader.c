#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Not in the headers of kernels before 5.2 and 5.9.
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

#define STACK_SIZE (32 << 10)
#define PATH_ROOM 64
// A reader that is ready to run, and does not get to it on a busy machine, has so many times as long.
#define BUSY_ROUNDS 20

// The memory that a reader shares with this process. Its stack and the bytes of the file follow.
struct reader {
    char path[PATH_ROOM];
    size_t capacity;
    int error;
    size_t count;
    _Alignas(max_align_t) char stack[STACK_SIZE];
    uint8_t bytes[];
};

// A reader that did not end when it was killed: kernels before 5.3 do not interrupt it.
static pid_t abandoned;

static int read_file(struct reader *reader)
{
    int file = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    while (reader->count < reader->capacity) {
        ssize_t count = read(file, reader->bytes + reader->count, reader->capacity - reader->count);
        if (count < 0)
            return -errno;
        if (count == 0)
            return 0;
        reader->count += (size_t)count;
    }
    return 0;
}

static int run_reader(void *argument)
{
    struct reader *reader = argument;
    // With a table of its own, a reader that is killed leaves no descriptor open.
    if (syscall(SYS_close_range, 0U, ~0U, CLOSE_RANGE_UNSHARE) < 0 && unshare(CLONE_FILES) < 0)
        reader->error = -errno;
    else
        reader->error = read_file(reader);
    return 0;
}

static bool is_ready_to_run(pid_t pid)
{
    char path[PATH_ROOM], text[64];
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

static bool has_ended(int pidfd, int milliseconds)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    return poll(&end, 1, milliseconds) == 1;
}

// Returns whether the reader has ended and does not use its memory any more.
static bool end_reader(pid_t pid, int pidfd, int milliseconds)
{
    linux_pidfd_send_signal(pidfd, SIGKILL);
    if (!has_ended(pidfd, milliseconds)) {
        abandoned = pid;
        return false;
    }
    waitpid(pid, NULL, __WALL);
    return true;
}

// Returns 0, or a negated errno: ETIMEDOUT if the reader was killed, EBUSY if it was abandoned.
static int run(struct reader *reader, int milliseconds)
{
    // The reader would run the handlers of this process.
    sigset_t all, previous;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &previous);
    int pidfd = -1;
    // Without a signal at its end it is no child that wait(2) tells of.
    pid_t pid = clone(run_reader, reader->stack + STACK_SIZE, CLONE_VM | CLONE_FILES | CLONE_PIDFD, reader, &pidfd);
    int error = pid < 0 ? -errno : 0;
    if (pid > 0) {
        bool has_read = has_ended(pidfd, milliseconds);
        for (int round = 0; !has_read && round < BUSY_ROUNDS && is_ready_to_run(pid); round++)
            has_read = has_ended(pidfd, milliseconds);
        if (has_read)
            waitpid(pid, NULL, __WALL);
        else
            error = end_reader(pid, pidfd, milliseconds) ? -ETIMEDOUT : -EBUSY;
        close(pidfd);
    }
    sigprocmask(SIG_SETMASK, &previous, NULL);
    return error;
}

int linux_read_in_time(const char *path, size_t limit, int milliseconds, struct linux_text *text)
{
    // The memory of an abandoned reader stays mapped.
    if (abandoned != 0 && waitpid(abandoned, NULL, __WALL | WNOHANG) == 0)
        return -EBUSY;
    abandoned = 0;
    size_t size = sizeof(struct reader) + limit;
    struct reader *reader = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reader == MAP_FAILED)
        return -errno;
    snprintf(reader->path, sizeof reader->path, "%s", path);
    reader->capacity = limit;
    int error = run(reader, milliseconds);
    if (error == 0)
        error = reader->error;
    if (error == 0)
        *text = (struct linux_text){
            .bytes = reader->bytes, .count = reader->count, .mapping = reader, .mapped = size};
    else if (error != -EBUSY)
        munmap(reader, size);
    return error;
}

void linux_free_text(struct linux_text text)
{
    munmap(text.mapping, text.mapped);
}
