// What the client libraries need of the system and Swift cannot reach, or must not do: a signal handler, epoll, and
// socket calls. No policy. Embedded Swift has no Glibc module, so these are all that liblifecycle knows of libc.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The channel that LIFECYCLE_FD names, or -1 when there is none. Changes nothing.
int lifecycle_find_channel(void);

/// The path that LIFECYCLE_SOCKET holds, or NULL when it holds none that a socket can have. Valid until the environment
/// changes.
const char *lifecycle_find_socket_path(void);

/// Has the channel that was found closed on execve, and removes both variables from the environment if asked to. A channel
/// whose variable stays is not found again by this process or a forked child. Notes on standard error why there is no
/// channel, when LIFECYCLE_VERBOSE is set. Cannot be undone, so it is for when nothing can fail any more.
void lifecycle_adopt_channel(int channel, bool removes_variables);

/// A Boolean value that indicates whether the life cycle of this process was nobody's: it is the caller's then, until lifecycle_disclaim().
bool lifecycle_claim(void);
void lifecycle_disclaim(void);

/// A socket connected to the one at a path, or -1 with errno. Never waits: EAGAIN when too many others do.
int lifecycle_connect(const char *path);

/// A descriptor that is readable when a time has passed, or -1 with errno.
int lifecycle_timer_create(void);
/// So many milliseconds from now, more than 0.
void lifecycle_timer_set(int timer, int64_t milliseconds);
/// A Boolean value that indicates whether the time has passed; not readable any more then.
bool lifecycle_timer_take(int timer);

/// A descriptor that is readable whenever one of those it watches is, or -1 with errno.
int lifecycle_poller_create(void);

/// Watches `fd`, for room to write too when `wants_output`. 0, or -1 with errno.
int lifecycle_poller_add(int poller, int fd);
int lifecycle_poller_want_output(int poller, int fd, bool wants_output);
void lifecycle_poller_remove(int poller, int fd);

/// A descriptor that lifecycle_wake() makes readable, or -1 with errno.
int lifecycle_waker_create(void);
void lifecycle_wake(int waker);
void lifecycle_waker_reset(int waker);

/// Wakes `waker` on SIGTERM instead of ending the process. A child that was forked and has not called execve ends as it
/// would have without this. 0, or -1 with errno: EBUSY when SIGTERM is caught for another waker.
int lifecycle_termination_catch(int waker);
/// A Boolean value that indicates whether SIGTERM came since it was last asked for.
bool lifecycle_termination_take(void);
/// Puts back what was in force before lifecycle_termination_catch().
void lifecycle_termination_release(void);

/// What became of a call on the channel that never waits.
enum lifecycle_io {
    LIFECYCLE_IO_DONE,
    LIFECYCLE_IO_WOULD_BLOCK,
    LIFECYCLE_IO_ENDED,
};

enum lifecycle_io lifecycle_receive(int fd, void *bytes, size_t capacity, size_t *count);
enum lifecycle_io lifecycle_send(int fd, const void *bytes, size_t length, size_t *count);

/// Lets lifecycle_receive() give what has arrived already, and then the end.
void lifecycle_shut_down(int fd);

void lifecycle_close_descriptor(int fd);

/// The path that LIFECYCLE_STATE_DIR holds, or NULL with errno ENOENT. Valid until the environment changes.
const char *lifecycle_state_directory(void);

/// Puts a file in the place of the one with that name, on the disk when it returns: the one or the other is there, whole,
/// whatever happens. 0, or -1 with errno. For one caller at a time.
int lifecycle_replace_file(const char *folder, const char *name, const void *bytes, size_t count);
/// The first `capacity` bytes of a file: how many there are, or -1 with errno. What is not a file has none.
int64_t lifecycle_read_file(const char *folder, const char *name, void *bytes, size_t capacity);

/// Milliseconds on CLOCK_MONOTONIC.
int64_t lifecycle_now_milliseconds(void);

/// The number of this process.
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
