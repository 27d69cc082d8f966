#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// ioprio_set(2), which has no header.
#define IOPRIO_OF_THREAD 1
#define IOPRIO_LOWEST_BEST_EFFORT (2 << 13 | 7)
#define IOPRIO_LOWEST_REAL_TIME (1 << 13 | 7)

// madvise(2), for headers older than Linux 5.4.
#define ADVICE_PAGE_OUT 21

#define OOM_SCORE "/proc/self/oom_score_adj"

int linux_get_nice(pid_t thread, int *nice)
{
    // The system call, unlike glibc's function, never returns a negative value but for an error.
    long value = syscall(SYS_getpriority, PRIO_PROCESS, thread);
    if (value < 0)
        return -errno;
    *nice = 20 - (int)value;
    return 0;
}

int linux_set_nice(pid_t thread, int nice)
{
    return setpriority(PRIO_PROCESS, (id_t)thread, nice) < 0 ? -errno : 0;
}

int linux_get_io_priority(pid_t thread)
{
    long value = syscall(SYS_ioprio_get, IOPRIO_OF_THREAD, thread);
    return value < 0 ? -errno : (int)value;
}

int linux_set_io_priority(pid_t thread, int priority)
{
    return syscall(SYS_ioprio_set, IOPRIO_OF_THREAD, thread, priority) < 0 ? -errno : 0;
}

// A number in a file of proc(5).
static int read_number(const char *path, long *number)
{
    char text[32];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return -EIO;
    text[length] = '\0';
    return sscanf(text, "%ld", number) == 1 ? 0 : -EIO;
}

static int write_number(const char *path, long number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%ld", number);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int result = write(file, text, (size_t)length) == length ? 0 : -errno;
    close(file);
    return result;
}

static int try_nice(void)
{
    int own, abilities = 0;
    if (linux_get_nice(0, &own) < 0)
        return 0;
    // At the end of the scale only the way down is left to try.
    if (own > -20 && linux_set_nice(0, own - 1) == 0)
        abilities |= LINUX_CAN_LOWER_NICE | LINUX_CAN_RESTORE_NICE;
    else if (own < 19 && linux_set_nice(0, own + 1) == 0 && linux_set_nice(0, own) == 0)
        abilities |= LINUX_CAN_RESTORE_NICE;
    return abilities;
}

static int try_io_priority(void)
{
    int abilities = 0;
    int own = linux_get_io_priority(0);
    if (own >= 0 && linux_set_io_priority(0, IOPRIO_LOWEST_BEST_EFFORT) == 0 && linux_set_io_priority(0, 0) == 0)
        abilities |= LINUX_CAN_SET_IO_PRIORITY;
    if (linux_set_io_priority(0, IOPRIO_LOWEST_REAL_TIME) == 0)
        abilities |= LINUX_CAN_SET_REAL_TIME_IO;
    return abilities;
}

static int try_oom_score(void)
{
    long own;
    int abilities = 0;
    if (read_number(OOM_SCORE, &own) < 0)
        return 0;
    long raised = own < 1000 ? own + 1 : own;
    if (write_number(OOM_SCORE, raised) == 0 && write_number(OOM_SCORE, own) == 0)
        abilities |= LINUX_CAN_RESTORE_OOM_SCORE;
    if (own > -1000 && write_number(OOM_SCORE, own - 1) == 0)
        abilities |= LINUX_CAN_LOWER_OOM_SCORE;
    return abilities;
}

// The parent gets what it has already.
static int try_timer_slack(void)
{
    char path[64];
    long own;
    snprintf(path, sizeof path, "/proc/%d/timerslack_ns", (int)getppid());
    return read_number(path, &own) == 0 && write_number(path, own) == 0 ? LINUX_CAN_SET_TIMER_SLACK : 0;
}

int linux_probe_resources(void)
{
    // Without CLONE_VM everything is a copy; without a signal no other thread waits for it.
    long pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
    if (pid < 0)
        return -errno;
    if (pid == 0)
        _exit(try_nice() | try_io_priority() | try_oom_score() | try_timer_slack());
    int status;
    while (waitpid((pid_t)pid, &status, __WCLONE) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

ssize_t linux_page_out(int pidfd, const uint64_t (*ranges)[2], size_t count)
{
#ifdef SYS_process_madvise
    struct iovec vectors[1024];
    if (count > sizeof vectors / sizeof *vectors)
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        vectors[i] = (struct iovec){.iov_base = (void *)(uintptr_t)ranges[i][0], .iov_len = ranges[i][1]};
    ssize_t advised = syscall(SYS_process_madvise, pidfd, vectors, count, ADVICE_PAGE_OUT, 0UL);
    return advised < 0 ? -errno : advised;
#else
    (void)pidfd, (void)ranges, (void)count;
    return -ENOSYS;
#endif
}
