#define _GNU_SOURCE
#include "CLinux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define COMPARE_MEMORY 1

// Not in the headers of kernels before 6.9 and 6.15.
#define SIGNAL_PROCESS_GROUP (1U << 2)
#define INFO_EXIT (1ULL << 3)

// The first 64 bytes of what PIDFD_GET_INFO fills in, the smallest size that it takes.
struct process_information {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t others[11];
    int32_t exit_status;
};
#define GET_INFORMATION _IOWR(0xFF, 11, struct process_information)

static int result_of(long value)
{
    return value < 0 ? -errno : (int)value;
}

int linux_pipe(int ends[2])
{
    return result_of(pipe2(ends, O_CLOEXEC));
}

void linux_set_mmap_threshold(int bytes)
{
    mallopt(M_MMAP_THRESHOLD, bytes);
}

int linux_pidfd_open(pid_t pid)
{
    return result_of(syscall(SYS_pidfd_open, pid, 0U));
}

int linux_pidfd_send_signal(int pidfd, int signal)
{
    return result_of(syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0U));
}

int linux_pidfd_signal_group(int pidfd, int signal)
{
    return result_of(syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, SIGNAL_PROCESS_GROUP));
}

int linux_pidfd_exit_status(int pidfd, int *status)
{
    struct process_information information = {.mask = INFO_EXIT};
    _Static_assert(sizeof information == 64, "the size is part of the call's number");
    if (ioctl(pidfd, GET_INFORMATION, &information) < 0)
        // ENOTTY, EINVAL and ESRCH are the answers of kernels that do not know.
        return errno == ENOTTY || errno == EINVAL || errno == ESRCH ? 0 : -errno;
    if (!(information.mask & INFO_EXIT))
        return 0;
    *status = information.exit_status;
    return 1;
}

int linux_wait(enum linux_wait_target target, int id, struct linux_child_event *event)
{
    siginfo_t info = {0};
    while (waitid((idtype_t)target, (id_t)id, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) < 0)
        if (errno != EINTR)
            return -errno;
    if (info.si_pid == 0)
        return 0;
    *event = (struct linux_child_event){.pid = info.si_pid, .code = info.si_code, .status = info.si_status};
    return 1;
}

int linux_memory_file(const char *name)
{
    return result_of(memfd_create(name, 0));
}

int linux_set_child_subreaper(bool enabled)
{
    return result_of(prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)enabled, 0UL, 0UL, 0UL));
}

int linux_share_memory(pid_t first, pid_t second)
{
    int result = result_of(syscall(SYS_kcmp, first, second, COMPARE_MEMORY, 0UL, 0UL));
    return result < 0 ? result : result == 0;
}

bool linux_waits_for_child(long number, unsigned long first_argument)
{
#ifdef SYS_vfork
    if (number == SYS_vfork)
        return true;
#endif
    return number == SYS_clone3 || (number == SYS_clone && (first_argument & CLONE_VFORK) != 0);
}

static pid_t process_id_of(const char *name)
{
    char *end;
    if (name[0] < '1' || name[0] > '9')
        return 0;
    errno = 0;
    long value = strtol(name, &end, 10);
    return *end == '\0' && errno == 0 && value <= INT_MAX ? (pid_t)value : 0;
}

ssize_t linux_list_process_ids(const char *directory, pid_t *ids, size_t capacity, size_t limit)
{
    DIR *stream = opendir(directory);
    if (!stream)
        return -errno;
    size_t count = 0;
    int error = 0;
    while (count < limit) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry) {
            error = errno;
            break;
        }
        pid_t id = process_id_of(entry->d_name);
        if (id == 0)
            continue;
        if (count < capacity)
            ids[count] = id;
        count++;
    }
    closedir(stream);
    return error != 0 ? -error : (ssize_t)count;
}

ssize_t linux_read_attribute(const char *path, const char *name, void *value, size_t capacity)
{
    ssize_t length = getxattr(path, name, value, capacity);
    return length < 0 ? -errno : length;
}

int linux_set_attribute(const char *path, const char *name, char value)
{
    return setxattr(path, name, &value, sizeof value, 0) < 0 ? -errno : 0;
}

int linux_remove_attribute(const char *path, const char *name)
{
    return removexattr(path, name) < 0 ? -errno : 0;
}

const char *linux_error_text(int error)
{
    return strerrordesc_np(error);
}

const char *linux_signal_name(int signal)
{
    return sigabbrev_np(signal);
}

int linux_exchange(const char *path, const char *other)
{
    return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE) < 0 ? -errno : 0;
}
