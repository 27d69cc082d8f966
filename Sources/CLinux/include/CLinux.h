#ifndef CLINUX_H
#define CLINUX_H

// System calls that glibc or Swift cannot reach, as plain functions. No policy lives here.
//
// Functions return a negated errno on failure unless they say otherwise. `_GNU_SOURCE` is
// defined by the implementation files only: a header that defines it clashes with Glibc's module map.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "keeper.h"
#include "resources.h"

/// The number of descriptors that one spawn can place in the child.
#define LINUX_SPAWN_DESCRIPTOR_LIMIT 64

/// The step of a child's set-up that failed.
enum linux_spawn_stage {
    LINUX_SPAWN_SESSION = 1,
    LINUX_SPAWN_DESCRIPTORS = 2,
    LINUX_SPAWN_LIMITS = 3,
    LINUX_SPAWN_CREDENTIALS = 4,
    LINUX_SPAWN_WORKING_DIRECTORY = 5,
    LINUX_SPAWN_EXECUTE = 6,
    LINUX_SPAWN_INTERPRETER = 7,
    LINUX_SPAWN_PRIVATE_TMP = 8,
    LINUX_SPAWN_LANDLOCK = 9,
    LINUX_SPAWN_WRITABLE_PATH = 10,
    LINUX_SPAWN_KEEPER = 11,
};

/// The message that a child writes to its status pipe when it could not become the program.
struct linux_spawn_failure {
    int32_t stage;
    int32_t error;
    /// The index of the path that decided the error; meaningful for the stages that concern a path.
    int32_t path_index;
};

/// `source` in the parent becomes `target` in the child.
struct linux_descriptor_mapping {
    int source;
    int target;
};

enum { LINUX_LIMIT_COUNT = 16 };

/// The upper bounds of a child; it never gets more than the parent has.
struct linux_confinement {
    /// Soft and hard limit of each resource of getrlimit(2), by number.
    uint64_t limits[2 * LINUX_LIMIT_COUNT];
    /// The capability bounding set, see capabilities(7).
    uint64_t bounding_set;
    bool no_new_privileges;
};

struct linux_spawn_request {
    /// Tried in order, as execvp(3) does, with the child's credentials and working directory.
    char *const *paths;
    char *const *arguments;
    char *const *environment;
    const char *working_directory;
    /// Every other descriptor of the parent is closed in the child.
    const struct linux_descriptor_mapping *descriptors;
    size_t descriptor_count;
    bool switch_user;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
    mode_t file_mode_mask;
    bool set_descriptor_limit;
    /// The soft RLIMIT_NOFILE; the hard one is left alone.
    uint64_t descriptor_limit;
    /// A directory of a cgroup v2 hierarchy to be born in, or -1.
    int cgroup;
    /// Set by `linux_spawn`: the child has a lower OOM score than usual to give up.
    bool reset_oom_score;
    bool confine;
    struct linux_confinement confinement;
    /// Absolute paths, the only ones below which the child may write, or NULL; needs Landlock. Implies no_new_privs.
    char *const *writable_paths;
    /// A Boolean value that indicates whether the child sees an empty /tmp and /var/tmp of its own; needs CAP_SYS_ADMIN.
    bool private_tmp;
    /// True for SIGPIPE ignored in the program, and not at its default action.
    bool ignore_sigpipe;
    /// The path of a keeper, which becomes the parent of the child, or NULL: the caller is the parent.
    const char *keeper;
    /// The standard input of the keeper.
    int keeper_input;
};

struct linux_spawned {
    pid_t pid;
    int pidfd;
    /// A child of the caller and the parent of `pid`; 0 without a keeper.
    pid_t keeper;
    /// Non-blocking. End of file: the program runs (or the child was killed first);
    /// otherwise one `linux_spawn_failure`.
    int status;
    /// For `linux_open_gate`. Closed before that, by the end of this process too, it makes the child end.
    int gate;
};

/// Starts a child in a session of its own, with default signal handling and an empty signal mask.
///
/// It executes nothing until its gate is opened. On success the descriptors belong to the caller; they are closed on
/// exec, and children started later do not keep them.
int linux_spawn(struct linux_spawn_request *request, struct linux_spawned *spawned);

/// Lets a child that is ready, or as soon as it is, execute its program. 0, or a negative errno: EPIPE when it ended.
int linux_open_gate(int gate);

/// pipe2(2), closed on exec: 0, or a negated errno.
int linux_pipe(int ends[2]);

/// Sets M_MMAP_THRESHOLD of mallopt(3), which glibc does not change by itself from then on.
void linux_set_mmap_threshold(int bytes);

/// A descriptor for the process (Linux 5.3), closed on exec.
int linux_pidfd_open(pid_t pid);

/// pidfd_send_signal(2) (Linux 5.1).
int linux_pidfd_send_signal(int pidfd, int signal);

/// The same to every process of the process group that the process has made (Linux 6.9; -EINVAL before).
int linux_pidfd_signal_group(int pidfd, int signal);

/// Reads the exit status of a process that any parent has reaped (PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15).
///
/// Returns 1 with a status as of wait(2), 0 when it has not been reaped or the kernel does not keep that.
int linux_pidfd_exit_status(int pidfd, int *status);

enum linux_wait_target {
    LINUX_WAIT_ANY = 0,
    LINUX_WAIT_PID = 1,
};

/// `code` is one of the CLD_ constants, `status` the exit status or signal that belongs to it.
struct linux_child_event {
    pid_t pid;
    int code;
    int status;
};

/// waitid(2) for exits, stops and continuations that never blocks and never leaves a zombie.
///
/// Returns 1 with an event, 0 when there is none.
int linux_wait(enum linux_wait_target target, int id, struct linux_child_event *event);

/// A file in memory that is not closed on exec (memfd_create(2)); the name is for users. A descriptor, or a negative errno.
int linux_memory_file(const char *name);

/// The version of Landlock's interface that the kernel has; 0 without Landlock.
int linux_landlock_version(void);

/// PR_SET_CHILD_SUBREAPER: orphaned descendants become children of this process (Linux 3.4).
int linux_set_child_subreaper(bool enabled);

/// Returns 1 if two processes share one address space, as after vfork(2), or 0 (kcmp(2), Linux 3.5).
int linux_share_memory(pid_t first, pid_t second);

/// Returns true if the caller of a system call waits until its child has executed a program or ended: vfork(2), or clone(2) with
/// CLONE_VFORK as `first_argument` says. Of clone3(2) it is not told and taken for true.
bool linux_waits_for_child(long number, unsigned long first_argument);

/// Reads the first `limit` bytes of a file that the kernel may not give before another process does something.
///
/// A child reads it, and is killed if it waits for longer than that. Returns the number of bytes, or a negated errno: ETIMEDOUT if
/// the file was not read in time, EBUSY if an earlier reader cannot be killed.
ssize_t linux_read_in_time(const char *path, uint8_t *bytes, size_t limit, int milliseconds);

/// Writes the entries of a directory that are process ids to `ids`, at most `capacity` of them.
///
/// Returns how many there are, which may be more than were written; it counts up to `limit`. A negative errno if not all can be read.
ssize_t linux_list_process_ids(const char *directory, pid_t *ids, size_t capacity, size_t limit);

/// getxattr(2): the length of the value, or a negative errno, -ERANGE where it is longer than `capacity`.
ssize_t linux_read_attribute(const char *path, const char *name, void *value, size_t capacity);

/// setxattr(2) with a value of one byte: 0 or a negative errno.
int linux_set_attribute(const char *path, const char *name, char value);

/// removexattr(2): 0 or a negative errno.
int linux_remove_attribute(const char *path, const char *name);

/// The text of an errno in the C locale, or null. Unlike strerror(3) it is safe in any thread.
const char *linux_error_text(int error);

/// The name of a signal without `SIG`, or null.
const char *linux_signal_name(int signal);

/// Connects a unix(7) socket to a path: connect(2). 0 or a negative errno: -ENAMETOOLONG for a path that is empty, has a zero, or does not
/// fit into an address.
int linux_connect_path(int socket, const char *path, size_t length);

/// Binds a unix(7) socket to a path: bind(2). As linux_connect_path().
int linux_bind_path(int socket, const char *path, size_t length);

/// A non-blocking SOCK_SEQPACKET socket of unix(7), closed on exec, that listens under a name of at most 40 bytes in a directory. A
/// descriptor, or a negative errno.
int linux_listen_for_packets(const char *directory, const char *name);

/// Such a socket, connected to one that listens. A descriptor, or a negative errno.
int linux_connect_for_packets(const char *directory, const char *name);

/// The process at the other end of a connected unix(7) socket.
struct linux_peer {
    pid_t process;
    uid_t user;
    gid_t group;
};

/// Takes the next connection, non-blocking and closed on exec: accept4(2). A descriptor, or a negative errno.
int linux_accept(int socket);

/// Reads SO_PEERCRED. 0, or a negative errno.
int linux_peer_credentials(int socket, struct linux_peer *peer);

/// Sets SO_PASSCRED, by which the kernel tells the sender of what is sent from now on. 0, or a negative errno.
int linux_identify_senders(int socket, bool identifies);

/// Receives bytes of one sender from a unix(7) socket with SO_PASSCRED, without waiting: recvmsg(2). Returns their number, 0 at
/// the end of the stream, or -1 with errno. The sender is 0 if the kernel does not know it.
ssize_t linux_receive_from_sender(int socket, void *buffer, size_t size, int flags, pid_t *sender);

/// SO_PEERPIDFD (Linux 6.5): a descriptor, closed on exec, for the process at the other end, or a negative errno:
/// -ENOPROTOOPT where the kernel has no such option.
int linux_peer_pidfd(int socket);

/// Returns 1 if the process of a pidfd has ended, all of its threads included, 0 if not, or a negative errno.
int linux_pidfd_has_ended(int pidfd);

/// Reads SO_PEERGROUPS (Linux 4.13): how many groups there are, or a negative errno, -ERANGE where they are more.
int linux_peer_groups(int socket, gid_t *groups, int capacity);

/// A connected socket of unix(7).
struct linux_unix_socket {
    uint32_t inode;
    /// The inode of the socket at the other end.
    uint32_t peer;
    /// The memory that holds what was written to this end and not read at the other end, in bytes.
    uint32_t unread;
    /// The size of the buffer that this memory comes from.
    uint32_t buffer;
    size_t name_length;
    /// The address; at the end of a server, that of the socket to which the client has connected. Bytes, as in sun_path.
    char name[108];
};

/// Describes the connected sockets of this network namespace, or the one with an inode: sock_diag(7) (Linux 3.3).
///
/// Returns how many there are, which may be more than were written, or a negated errno.
ssize_t linux_read_unix_sockets(uint32_t inode, struct linux_unix_socket *sockets, size_t capacity);

/// Duplicates a descriptor of another process: pidfd_getfd(2) (Linux 5.6), which needs the right to trace that process.
int linux_pidfd_getfd(int pidfd, int number);

/// The facts of statx(2) about a file.
struct linux_file {
    uint64_t inode;
    uint64_t mount;
    uint32_t user;
    uint32_t group;
    uint32_t mode;
    uint32_t device_major;
    uint32_t device_minor;
};

/// Looks at a file as the kernel knows it (`AT_STATX_DONT_SYNC`): a server of its file system is not asked. Zero, or a negative errno.
///
/// With an empty path, at the file that is open as the descriptor; otherwise, the descriptor counts for relative paths only.
int linux_stat_file(int descriptor, const char *path, struct linux_file *file);

/// A timer on CLOCK_REALTIME: timerfd_create(2), non-blocking and closed on exec. A descriptor, or a negative errno.
int linux_wall_clock_timer(void);

/// Sets the timer to a second of the epoch, and to end early when the clock is set or the machine wakes (Linux 3.0).
///
/// 0, or a negative errno. -ECANCELED says that the clock was set since the timer was looked at; the timer is armed.
int linux_arm_wall_clock_timer(int timer, int64_t second);

/// Makes a timer that sends a signal to this process when another process has used the processor once more, or soon after: the
/// kernel looks when its clock ticks. The value of the signal is the number of that process. 0, or a negative errno.
int linux_watch_processor(pid_t pid, int signal, intptr_t *timer);

/// Ends such a timer. A signal of it may be pending.
void linux_end_processor_watch(intptr_t timer);

/// The times at which the kernel gives a processor to a thread, or takes it away.
struct linux_switches {
    /// Is ready to be read from the first of them on.
    int descriptor;
    uintptr_t buffer;
};

/// Opens those of the main thread of a process, or of the caller for 0: perf_event_open(2). 0, or a negative errno; -EACCES where
/// the kernel leaves that to privileged processes.
int linux_open_switches(pid_t pid, struct linux_switches *switches);

/// Returns whether there was one. It makes no system call.
bool linux_has_switched(struct linux_switches switches);

/// Closes the descriptor, and unmaps the buffer.
void linux_close_switches(struct linux_switches switches);

/// Reads a timer that is ready: 0 when its time has come, -ECANCELED when the clock was set, another negative errno.
int linux_read_timer(int timer);

/// Lets two files exchange their names: renameat2(2) with RENAME_EXCHANGE. 0, or a negative errno.
int linux_exchange(const char *path, const char *other);

#endif
