#ifndef CLINUX_RESOURCES_H
#define CLINUX_RESOURCES_H

// The share of the machine that a process or a thread gets. Included by CLinux.h.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Reads the nice value of a thread, -20 to 19. 0, or a negative errno.
int linux_get_nice(pid_t thread, int *nice);

/// Sets the nice value of a thread: setpriority(2). 0, or a negative errno.
int linux_set_nice(pid_t thread, int nice);

/// ioprio_get(2) of a thread: the class times 8192 plus the level, or a negative errno.
int linux_get_io_priority(pid_t thread);

/// ioprio_set(2) of a thread. 0, or a negative errno.
int linux_set_io_priority(pid_t thread, int priority);

/// The abilities that `linux_probe_resources()` has tried.
enum linux_resource_ability {
    /// A nice value that was raised can be lowered again.
    LINUX_CAN_RESTORE_NICE = 1,
    /// The nice value can be lowered below what a process began with.
    LINUX_CAN_LOWER_NICE = 2,
    /// An I/O priority can be set, and taken back.
    LINUX_CAN_SET_IO_PRIORITY = 4,
    /// So can one of the class for real time.
    LINUX_CAN_SET_REAL_TIME_IO = 8,
    /// `oom_score_adj` can be raised, and taken back.
    LINUX_CAN_RESTORE_OOM_SCORE = 16,
    /// `oom_score_adj` can be lowered below what a process began with.
    LINUX_CAN_LOWER_OOM_SCORE = 32,
    /// The timer slack of another process can be set (Linux 4.6).
    LINUX_CAN_SET_TIMER_SLACK = 64,
};

/// Finds out in a child what this process may do to others of its own user: a set of `linux_resource_ability`.
///
/// The child lives for some microseconds and sends no SIGCHLD. A negative errno when there could be none.
int linux_probe_resources(void);

/// process_madvise(2) with MADV_PAGEOUT (Linux 5.10): asks for memory of a process to be written out and given back.
///
/// Each range is a start and a length, in bytes; whole pages. Returns how many bytes the advice was given for, which may
/// be fewer than asked, or a negative errno. More than 1024 ranges at once are too many.
ssize_t linux_page_out(int pidfd, const uint64_t (*ranges)[2], size_t count);

#endif
