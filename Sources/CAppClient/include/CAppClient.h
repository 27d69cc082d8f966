// The system calls of the client libraries: a signal handler, epoll, sockets and files. No policy. Embedded Swift has no
// Glibc module, so that liblifecycle calls libc through these functions only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "main_queue.h"

// The environment of a program with raised privileges (AT_SECURE) is the word of a user with fewer rights. These functions take
// nothing from it: with secure_getenv(3), every variable is unset there.

/// Claims the channel that LIFECYCLE_FD and LIFECYCLE_CHANNEL name for this process. Returns -1 if there is none, if it belongs to
/// another process that lives, or if LIFECYCLE_SOCKET is empty.
int lifecycle_claim_channel(void);
/// Leaves the channel to other processes, as if it had not been claimed.
void lifecycle_disclaim_channel(int channel);
/// Closes the descriptor of a channel that other processes share, and leaves the channel and the saved state to them. Notes that
/// on standard error, when LIFECYCLE_VERBOSE is set.
void lifecycle_abandon_channel(int channel);

/// Returns the path in LIFECYCLE_SOCKET, or NULL if it cannot be the path of a socket. Valid until the environment changes.
const char *lifecycle_find_socket_path(void);

/// Returns the path of the socket for apps of the user's daemon (index 0) or the system's (index 1), or NULL: after the last one, and
/// in a process that descends from an app or whose LIFECYCLE_SOCKET is empty. LIFECYCLE_SOCKET replaces both. Valid until the next call.
const char *lifecycle_own_socket_path(int index);

/// Has the channel closed on execve, and removes the variables of the channel and of the directory of the state from the
/// environment if asked to. Notes on standard error why there is no channel, when LIFECYCLE_VERBOSE is set. Cannot be undone, so it
/// is for when nothing can fail any more.
void lifecycle_adopt_channel(int channel, bool removes_variables);

/// Claims the life cycle of this process until lifecycle_disclaim(). Returns false if it is claimed.
bool lifecycle_claim(void);
void lifecycle_disclaim(void);

/// Returns a socket that is connected to the socket at a path, or -1 with errno. Does not wait: EAGAIN if its backlog is full.
int lifecycle_connect(const char *path);

/// Returns a descriptor that is readable when a time has passed, or -1 with errno.
int lifecycle_timer_create(void);
/// Sets the time, in milliseconds from now; 0 for never.
void lifecycle_timer_set(int timer, int64_t milliseconds);
/// Returns whether the time has passed, and makes the timer unreadable.
bool lifecycle_timer_take(int timer);

/// Returns a descriptor that is readable when one of the watched descriptors is, or -1 with errno.
int lifecycle_poller_create(void);

/// Watches `fd`, also for output if `wants_output`. Returns 0, or -1 with errno.
int lifecycle_poller_add(int poller, int fd);
int lifecycle_poller_want_output(int poller, int fd, bool wants_output);
void lifecycle_poller_remove(int poller, int fd);

/// Returns a descriptor that lifecycle_wake() makes readable, or -1 with errno.
int lifecycle_waker_create(void);
void lifecycle_wake(int waker);
void lifecycle_waker_reset(int waker);

/// Has SIGTERM wake `waker` instead of ending the process. SIGTERM ends a forked child that has not called execve. Returns 0,
/// or -1 with errno: EBUSY if SIGTERM is caught for another waker.
int lifecycle_termination_catch(int waker);
/// Returns whether SIGTERM came since the last call.
bool lifecycle_termination_take(void);
/// Restores the handling of SIGTERM before lifecycle_termination_catch().
void lifecycle_termination_release(void);

/// The result of a call on the channel, which does not wait.
enum lifecycle_io {
    LIFECYCLE_IO_DONE,
    LIFECYCLE_IO_WOULD_BLOCK,
    LIFECYCLE_IO_ENDED,
};

enum lifecycle_io lifecycle_receive(int fd, void *bytes, size_t capacity, size_t *count);
enum lifecycle_io lifecycle_send(int fd, const void *bytes, size_t length, size_t *count);

/// Shuts the channel down: lifecycle_receive() returns the bytes that have arrived, and then the end.
void lifecycle_shut_down(int fd);

void lifecycle_close_descriptor(int fd);

/// Returns the path in LIFECYCLE_STATE_DIR, or the path that was removed there. NULL with errno ENOENT if there is none, and if the
/// environment names a channel that is not of this process. Valid until the environment changes.
const char *lifecycle_state_directory(void);

/// Replaces the file with this name, and waits for the disk. After a failure of the machine, the old or the new file is
/// complete. Returns 0, or -1 with errno. For one caller at a time.
int lifecycle_replace_file(const char *folder, const char *name, const void *bytes, size_t count);
/// Reads the first `capacity` bytes of a file. Returns their number, 0 if it is not a regular file, or -1 with errno.
int64_t lifecycle_read_file(const char *folder, const char *name, void *bytes, size_t capacity);

/// Returns the milliseconds of CLOCK_MONOTONIC.
int64_t lifecycle_now_milliseconds(void);

/// Returns the id of this process.
int lifecycle_process(void);

int lifecycle_errno(void);
void lifecycle_set_errno(int error);

/// EINVAL, EBUSY, EFBIG, EBADMSG, ENOENT and EAGAIN.
int lifecycle_invalid_argument(void);
int lifecycle_busy(void);
int lifecycle_file_too_big(void);
int lifecycle_bad_message(void);
int lifecycle_no_entry(void);
int lifecycle_try_again(void);
