#ifndef CLINUX_CHILD_H
#define CLINUX_CHILD_H

#include "CLinux.h"

/// The life of a child between clone and execve; failures go to the pipe `status`, and nothing is executed before a
/// byte has come through `gate`.
_Noreturn void linux_run_child(const struct linux_spawn_request *request, int status, int gate);

#endif
