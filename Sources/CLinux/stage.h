#ifndef CLINUX_STAGE_H
#define CLINUX_STAGE_H

#include "CLinux.h"
#include "child.h"

// A child usually has a copy of its parent's memory: the kernel copies the page tables, and each of the two has a page fault
// for every page that it writes. On the stage, a child has the memory of its parent itself until it executes its program, and the
// parent goes on meanwhile. So it has a stack, and variables of its own such as errno: those of a thread that does nothing else.

/// The arguments of clone3(2). Kernel headers older than the running kernel lack parts of them.
struct linux_clone_arguments {
    uint64_t flags;
    uint64_t pidfd;
    uint64_t child_tid;
    uint64_t parent_tid;
    uint64_t exit_signal;
    uint64_t stack;
    uint64_t stack_size;
    uint64_t tls;
    uint64_t set_tid;
    uint64_t set_tid_size;
    uint64_t cgroup;
};

/// Reserves the stage for one child.
///
/// Returns memory for its request, of `LINUX_REQUEST_ROOM` bytes; NULL if a child is on the stage, or there is none.
char *linux_reserve_stage(void);

/// Starts a child on the stage, which leaves it by executing a program or by ending.
///
/// Returns its number, or a negated errno; then the stage is still reserved.
pid_t linux_clone_on_stage(struct linux_clone_arguments arguments, struct linux_child child);

/// Gives the reserved stage back, if no child was started on it.
void linux_release_stage(void);

#endif
