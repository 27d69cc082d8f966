#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block.h"
#include "child.h"
#include "heap.h"
#include "libraries.h"
#include "window.h"

// Kernel headers older than the running kernel lack parts of these, so they are spelled out (clone(2)).
#define FLAG_FILES 0x00000400ULL
#define FLAG_PIDFD 0x00001000ULL
#define FLAG_INTO_CGROUP 0x200000000ULL

// Enough for the usual environment of an app.
#define REQUEST_ROOM 8192

struct clone_arguments {
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

// Signals 32 and 33 are hidden by glibc's functions, but must not run its handlers in the child either.
typedef uint64_t kernel_signal_set;

static void set_signal_mask(kernel_signal_set mask, kernel_signal_set *previous)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, previous, sizeof mask);
}

// Returns like fork(2), or a negated errno. The child has no glibc state of its own after clone3, and no heap, so it may
// make system calls only.
static pid_t clone_with_pidfd(int cgroup, bool shares_table, int *pidfd)
{
    struct clone_arguments arguments = {
        .flags = FLAG_PIDFD | (shares_table ? FLAG_FILES : 0),
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
    };
    if (cgroup >= 0) {
        arguments.flags |= FLAG_INTO_CGROUP;
        arguments.cgroup = (uint64_t)cgroup;
    }
    linux_withhold_libraries();
    linux_advise_heap(MADV_DONTFORK);
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid == 0)
        return 0;
    int error = errno;
    linux_advise_heap(MADV_DOFORK);
    return pid < 0 ? -error : (pid_t)pid;
}

// Sandboxes answer ENOSYS to clone3 because they cannot look into its arguments.
static pid_t fork_with_pidfd(int *pidfd)
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        return 0;
    // The pid cannot be reused yet: no other thread waits for the child.
    *pidfd = linux_pidfd_open(pid);
    if (*pidfd < 0) {
        int error = *pidfd;
        kill(pid, SIGKILL);
        return error;
    }
    return pid;
}

static pid_t start_child(const struct linux_spawn_request *request, bool *shares_table, int *pidfd)
{
    pid_t pid = clone_with_pidfd(request->cgroup, *shares_table, pidfd);
    if (pid == -ENOSYS && request->cgroup < 0) {
        *shares_table = false;
        pid = fork_with_pidfd(pidfd);
    }
    return pid;
}

// The ends of the two connections between a child and its parent.
struct connections {
    int status[2];
    int gate[2];
};

static void close_both(const int *descriptors)
{
    close(descriptors[0]);
    close(descriptors[1]);
}

static int connect_child(struct connections *connections)
{
    if (pipe2(connections->status, O_CLOEXEC) < 0)
        return -errno;
    // A socket, because writing to a pipe whose reader has ended would raise SIGPIPE.
    if (fcntl(connections->status[0], F_SETFL, O_NONBLOCK) < 0
        || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, connections->gate) < 0) {
        int error = -errno;
        close_both(connections->status);
        return error;
    }
    return 0;
}

// Starts a child with its two ends of the connections. Returns its number, or a negated errno.
static pid_t start_with_ends(
    struct linux_spawn_request *request, bool shares_table, const struct connections *ends, int *pidfd)
{
    int status = ends->status[1];
    int gate = ends->gate[1];
    int error = shares_table ? linux_fill_window(request, &status, &gate) : 0;
    if (error < 0)
        return error;

    // Until the child has reset its signal handlers a signal would run the parent's in it.
    kernel_signal_set previous;
    set_signal_mask(~(kernel_signal_set)0, &previous);
    pid_t pid = start_child(request, &shares_table, pidfd);
    if (pid == 0) {
        if (shares_table)
            linux_leave_shared_table(gate);
        linux_run_child(request, status, gate);
    }
    if (pid > 0 && shares_table)
        error = linux_wait_for_own_table(ends->gate[0], *pidfd);
    set_signal_mask(previous, NULL);
    if (error < 0)
        close(*pidfd);
    return error < 0 ? error : pid;
}

// Returns whether a child would have a lower OOM score than usual. The file stays open: to open it takes longer than all else that
// a child does for its priorities.
static bool has_lowered_oom_score(void)
{
    static int file = -1;
    char sign;
    if (file < 0)
        file = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    return file >= 0 && pread(file, &sign, 1, 0) == 1 && sign == '-';
}

static int start_connected(struct linux_spawn_request *request, struct linux_spawned *spawned)
{
    struct connections connections;
    int error = connect_child(&connections);
    if (error < 0)
        return error;

    int pidfd = -1;
    request->reset_oom_score = has_lowered_oom_score();
    bool shares_table = linux_window_is_worth_it(request, connections.status[0]);
    pid_t pid = start_with_ends(request, shares_table, &connections, &pidfd);
    if (shares_table)
        linux_clear_window();
    close(connections.status[1]);
    close(connections.gate[1]);
    if (pid < 0) {
        close(connections.status[0]);
        close(connections.gate[0]);
        return (int)pid;
    }
    *spawned = (struct linux_spawned){
        .pid = pid, .pidfd = pidfd, .status = connections.status[0], .gate = connections.gate[0],
        .shared_table = shares_table};
    return 0;
}

int linux_spawn(const struct linux_spawn_request *request, struct linux_spawned *spawned)
{
    if (request->descriptor_count > LINUX_SPAWN_DESCRIPTOR_LIMIT)
        return -EINVAL;
    struct linux_request_block block;
    // A child has a copy of the stack.
    _Alignas(max_align_t) char room[REQUEST_ROOM];
    int error = linux_copy_request(request, room, sizeof room, &block);
    if (error < 0)
        return error;
    error = start_connected(block.request, spawned);
    linux_free_request(block);
    return error;
}

int linux_open_gate(int gate)
{
    ssize_t count;
    do
        count = send(gate, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : 0;
}
