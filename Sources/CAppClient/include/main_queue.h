// The main dispatch queue, for a thread that has its own loop: what Foundation's run loop is made of on Linux. Inline, so that
// only the Swift library, which calls these, has to be linked to libdispatch.
#pragma once

#include <stddef.h>
#include <sys/eventfd.h>

// libdispatch exports these for run loops; CoreFoundation's uses them, and they have been the same since Swift 3.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

/// A descriptor that is readable when the main queue has work.
static inline int lifecycle_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

/// Does the work that the main queue has. For the main thread.
static inline void lifecycle_main_queue_run(void) {
    // Before the work: work that is added while it is done makes the descriptor readable again.
    eventfd_t count;
    eventfd_read(lifecycle_main_queue_descriptor(), &count);
    _dispatch_main_queue_callback_4CF(NULL);
}
