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
#include "stage.h"
#include "window.h"

// Kernel headers older than the running kernel lack parts of these, so they are spelled out (clone(2)).
#define FLAG_FILES 0x00000400ULL
#define FLAG_PIDFD 0x00001000ULL
#define FLAG_INTO_CGROUP 0x200000000ULL

// Signals 32 and 33 are hidden by glibc's functions, but must not run its handlers in the child either.
typedef uint64_t kernel_signal_set;

static void set_signal_mask(kernel_signal_set mask, kernel_signal_set *previous)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, previous, sizeof mask);
}

// Returns like fork(2), or a negated errno. The child has no glibc state of its own after clone3, and no heap, so it may
// make system calls only. On the stage, it does not return.
static pid_t clone_with_pidfd(struct linux_child child, int *pidfd)
{
    int cgroup = child.request->cgroup;
    struct linux_clone_arguments arguments = {
        .flags = FLAG_PIDFD | (child.shares_table ? FLAG_FILES : 0),
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
    };
    if (cgroup >= 0) {
        arguments.flags |= FLAG_INTO_CGROUP;
        arguments.cgroup = (uint64_t)cgroup;
    }
    if (child.shares_memory)
        return linux_clone_on_stage(arguments, child);
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

static pid_t start_child(struct linux_child *child, int *pidfd)
{
    pid_t pid = clone_with_pidfd(*child, pidfd);
    if (pid == -ENOSYS && child->request->cgroup < 0) {
        child->shares_memory = child->shares_table = false;
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

// Starts a child that has its ends of the connections. Returns its number, or a negated errno.
static pid_t start_connected(struct linux_child *child, const struct connections *connections, int *pidfd)
{
    child->status = connections->status[1];
    child->gate = connections->gate[1];
    int error = child->shares_table ? linux_fill_window(child) : 0;
    if (error < 0)
        return error;

    // Until the child has reset its signal handlers a signal would run the parent's in it.
    kernel_signal_set previous;
    set_signal_mask(~(kernel_signal_set)0, &previous);
    pid_t pid = start_child(child, pidfd);
    if (pid == 0)
        linux_run_child(*child);
    if (pid > 0 && child->shares_table)
        error = linux_wait_for_own_table(connections->gate[0], *pidfd);
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

static int connect_and_start(struct linux_child *child, struct linux_spawned *spawned)
{
    struct connections connections;
    int error = connect_child(&connections);
    if (error < 0)
        return error;

    int pidfd = -1;
    bool uses_window = linux_window_is_worth_it(child->request, connections.status[0]);
    child->shares_table = uses_window;
    pid_t pid = start_connected(child, &connections, &pidfd);
    if (uses_window)
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
        .shared_table = uses_window, .shared_memory = child->shares_memory};
    return 0;
}

// A child that becomes another user could be traced by that user, or be made to dump the memory that it shares. A change of its
// OOM score would be one of all that share the memory.
static bool may_share_memory(const struct linux_spawn_request *request)
{
    return !request->switch_user && !request->private_tmp && !request->reset_oom_score;
}

int linux_spawn(struct linux_spawn_request *request, struct linux_spawned *spawned)
{
    if (request->descriptor_count > LINUX_SPAWN_DESCRIPTOR_LIMIT)
        return -EINVAL;
    request->reset_oom_score = has_lowered_oom_score();
    char *stage = may_share_memory(request) ? linux_reserve_stage() : NULL;
    // A child that shares no memory has a copy of the stack.
    _Alignas(max_align_t) char room[LINUX_REQUEST_ROOM];
    struct linux_request_block block = {0};
    int error = linux_copy_request(request, stage ? stage : room, &block);
    struct linux_child child = {.request = block.request, .shares_memory = stage && block.mapped == 0};
    if (error == 0)
        error = connect_and_start(&child, spawned);
    if (stage && !(error == 0 && child.shares_memory))
        linux_release_stage();
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
