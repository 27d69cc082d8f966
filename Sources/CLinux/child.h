#ifndef CLINUX_CHILD_H
#define CLINUX_CHILD_H

#include "CLinux.h"

/// The request and the connections of a new child.
struct linux_child {
    struct linux_spawn_request *request;
    /// A pipe for failures.
    int status;
    /// Nothing is executed before a byte has come through it.
    int gate;
};

/// The life of a child between clone and execve.
_Noreturn void linux_run_child(struct linux_child child);

/// The life of a keeper between clone and execve. It starts the child, and sends its pid, or a negated errno, through the gate.
_Noreturn void linux_run_keeper(struct linux_child child);

#endif
