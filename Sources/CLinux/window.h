#ifndef CLINUX_WINDOW_H
#define CLINUX_WINDOW_H

#include "CLinux.h"
#include "child.h"

// A child that gets a copy of its parent's table of descriptors copies and closes each of them, which takes longer than
// all else once they are thousands. A child that shares the table instead can be given a table of its own by one call,
// close_range(2) with CLOSE_RANGE_UNSHARE, which copies nothing of what it closes. What the child needs has to be below
// the numbers that are closed: in the window.

/// Returns whether a child that is started now should share the table: many descriptors are open, and this request fits in.
///
/// `next` is the lowest number that is free, or was a moment ago: at least as many descriptors are open.
bool linux_window_is_worth_it(const struct linux_spawn_request *request, int next);

/// Puts what the child needs into the window, and changes its request and its ends to these numbers.
///
/// Returns 0, or a negated errno; then `linux_clear_window()` has to be called all the same.
int linux_fill_window(struct linux_child *child);

/// In the child: leaves the shared table, and tells the other end of the gate, or ends.
void linux_leave_shared_table(int gate);

/// In the parent, which must not open or close anything before: waits until the child has a table of its own.
///
/// Returns 0, or a negated errno when there will be no child; it has been killed then.
int linux_wait_for_own_table(int gate, int pidfd);

/// Closes what is in the window, and keeps its numbers.
void linux_clear_window(void);

#endif
