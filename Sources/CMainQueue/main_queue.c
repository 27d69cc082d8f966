#include "CMainQueue.h"

#include <stddef.h>
#include <sys/eventfd.h>

// libdispatch exports these for run loops; CoreFoundation's uses them, and they have been the same since Swift 3.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

int lifecycle_main_queue_descriptor(void) { return _dispatch_get_main_queue_handle_4CF(); }

void lifecycle_main_queue_drain(void) {
    // Before the work: work that is added while it is done makes the descriptor readable again.
    eventfd_t count;
    eventfd_read(lifecycle_main_queue_descriptor(), &count);
    _dispatch_main_queue_callback_4CF(NULL);
}
