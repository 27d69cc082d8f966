#ifndef CLINUX_BLOCK_H
#define CLINUX_BLOCK_H

#include "CLinux.h"

/// Enough for the usual environment of an app.
#define LINUX_REQUEST_ROOM 8192

/// A copy of a request, with everything that it points to, in memory that is not on the heap.
struct linux_request_block {
    struct linux_spawn_request *request;
    /// The size of a mapping of its own; 0 for none.
    size_t mapped;
};

/// Copies a request to `room`, which is aligned for every type, and of `LINUX_REQUEST_ROOM` bytes; or to a mapping of its own if it
/// is too large.
///
/// Returns 0, or a negated errno.
int linux_copy_request(const struct linux_spawn_request *request, char *room, struct linux_request_block *block);

void linux_free_request(struct linux_request_block block);

#endif
