#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "child.h"

// Kernel headers older than the running kernel lack parts of these, so they are spelled out (clone(2)).
#define FLAG_PIDFD 0x00001000ULL
#define FLAG_INTO_CGROUP 0x200000000ULL

// Signals 32 and 33 are hidden by glibc's functions, but must not run its handlers in the child either.
typedef uint64_t kernel_signal_set;

static void set_signal_mask(kernel_signal_set mask, kernel_signal_set *previous)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, previous, sizeof mask);
}

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

// Returns like fork(2), or a negated errno. glibc does not know of the child, which may make system calls only.
static pid_t clone_into_group(int cgroup, int *pidfd)
{
    struct clone_arguments arguments = {
        .flags = FLAG_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)pidfd,
        .exit_signal = SIGCHLD,
    };
    if (cgroup >= 0) {
        arguments.flags |= FLAG_INTO_CGROUP;
        arguments.cgroup = (uint64_t)cgroup;
    }
    long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    return pid < 0 ? -errno : (pid_t)pid;
}

// 0, or a negated errno. A child that has ended needs no group any more.
static int move_into_group(pid_t pid, int cgroup)
{
    int file = openat(cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return -errno;
    int error = dprintf(file, "%d", (int)pid) < 0 && errno != ESRCH ? -errno : 0;
    close(file);
    return error;
}

// As clone_into_group(). The child waits at its gate meanwhile, so nothing of the program runs outside of the group.
static pid_t fork_and_move(int cgroup, int *pidfd)
{
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0)
        return 0;
    // The pid cannot be reused yet: no other thread waits for the child.
    *pidfd = linux_pidfd_open(pid);
    int error = *pidfd < 0 ? *pidfd : 0;
    if (error == 0 && cgroup >= 0)
        error = move_into_group(pid, cgroup);
    if (error == 0)
        return pid;
    kill(pid, SIGKILL);
    if (*pidfd >= 0)
        close(*pidfd);
    return error;
}

// Kernels before 5.7 do not know the call or its flags. Sandboxes refuse it, because they cannot look into its arguments.
static bool is_refused(int error)
{
    return error == -ENOSYS || error == -EPERM || error == -E2BIG || error == -EINVAL;
}

static pid_t start_child(const struct linux_child *child, int *pidfd)
{
    int cgroup = child->request->keeper ? -1 : child->request->cgroup;
    pid_t pid = clone_into_group(cgroup, pidfd);
    return is_refused(pid) ? fork_and_move(cgroup, pidfd) : pid;
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

// Returns whether a child would have a lower OOM score than usual.
static bool has_lowered_oom_score(void)
{
    char sign;
    int file = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is_lowered = read(file, &sign, 1) == 1 && sign == '-';
    close(file);
    return is_lowered;
}

// The keeper answers after a few system calls, or ends. This many milliseconds pass only if it is kept from running.
#define KEEPER_TIMEOUT 5000

// Reads the pid of the child that a keeper has started, or a negated errno.
static int32_t receive_child(int gate)
{
    int32_t pid;
    struct pollfd answer = {.fd = gate, .events = POLLIN};
    int count;
    do
        count = poll(&answer, 1, KEEPER_TIMEOUT);
    while (count < 0 && errno == EINTR);
    if (count != 1)
        return -ETIMEDOUT;
    return recv(gate, &pid, sizeof pid, MSG_DONTWAIT) == sizeof pid ? pid : -ECHILD;
}

// Replaces the keeper by its child. The child waits at its gate, so the keeper cannot have reaped it unless both were killed.
static int take_child(struct linux_spawned *spawned)
{
    int32_t pid = receive_child(spawned->gate);
    int pidfd = pid > 0 ? linux_pidfd_open(pid) : pid;
    if (pidfd < 0)
        linux_pidfd_send_signal(spawned->pidfd, SIGKILL);
    close(spawned->pidfd);
    spawned->keeper = spawned->pid;
    spawned->pid = pid;
    spawned->pidfd = pidfd;
    return pidfd < 0 ? pidfd : 0;
}

int linux_spawn(struct linux_spawn_request *request, struct linux_spawned *spawned)
{
    if (request->descriptor_count > LINUX_SPAWN_DESCRIPTOR_LIMIT)
        return -EINVAL;
    request->reset_oom_score = has_lowered_oom_score();
    struct connections connections;
    int error = connect_child(&connections);
    if (error < 0)
        return error;
    struct linux_child child = {.request = request, .status = connections.status[1], .gate = connections.gate[1]};

    // Until the child has reset its signal handlers a signal would run the parent's in it.
    kernel_signal_set previous;
    set_signal_mask(~(kernel_signal_set)0, &previous);
    int pidfd = -1;
    pid_t pid = start_child(&child, &pidfd);
    if (pid == 0 && request->keeper)
        linux_run_keeper(child);
    if (pid == 0)
        linux_run_child(child);
    set_signal_mask(previous, NULL);

    close(child.status);
    close(child.gate);
    if (pid < 0) {
        close(connections.status[0]);
        close(connections.gate[0]);
        return (int)pid;
    }
    *spawned = (struct linux_spawned){
        .pid = pid, .pidfd = pidfd, .status = connections.status[0], .gate = connections.gate[0]};
    if (!request->keeper)
        return 0;
    error = take_child(spawned);
    if (error < 0) {
        close(spawned->status);
        close(spawned->gate);
    }
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
