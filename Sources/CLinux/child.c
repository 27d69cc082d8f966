#define _GNU_SOURCE
#include "child.h"

#include "sandbox.h"

// Everything here runs between clone and execve: system calls only, no memory allocation, no locks.
// The functions of glibc that are used are thin wrappers of system calls; setuid(3) and its kin
// are not (they signal the parent's threads), so those are called directly.

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTOR_SCAN_LIMIT (1U << 20)

// ioprio_set(2), which has no header.
#define IO_CLASS_SHIFT 13
#define IO_CLASS_REAL_TIME 1

#ifdef SYS_setgroups32
#define SET_GROUPS SYS_setgroups32
#define SET_GROUP SYS_setresgid32
#define SET_USER SYS_setresuid32
#else
#define SET_GROUPS SYS_setgroups
#define SET_GROUP SYS_setresgid
#define SET_USER SYS_setresuid
#endif

static _Noreturn void fail(int status, enum linux_spawn_stage stage, int error, int path_index)
{
    struct linux_spawn_failure failure = {.stage = (int32_t)stage, .error = error, .path_index = path_index};
    // Shorter than PIPE_BUF, into an empty pipe: it is written whole, or no process listens any more.
    ssize_t written = write(status, &failure, sizeof failure);
    (void)written;
    _exit(127);
}

static void reset_signal_handlers(bool ignore_sigpipe)
{
    // The kernel's structure with SIG_DFL. sigaction(3) refuses the two signals that posix_spawn(3) has its children ignore.
    static const uint64_t none[8];
    for (int signal = 1; signal < _NSIG; signal++)
        syscall(SYS_rt_sigaction, signal, none, NULL, sizeof(uint64_t));
    if (ignore_sigpipe)
        signal(SIGPIPE, SIG_IGN);
}

static void unblock_signals(void)
{
    uint64_t none = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

// The child closes the descriptors itself, and does not leave them to execve(): the other end of this gate, or of the gate of
// another child that waits at the same time, would hide the end of the process that holds them.
static void close_from(unsigned first)
{
    if (syscall(SYS_close_range, first, ~0U, 0U) == 0)
        return;
    // Before Linux 5.9, and in sandboxes that do not know the call.
    struct rlimit limit = {.rlim_cur = DESCRIPTOR_SCAN_LIMIT};
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > DESCRIPTOR_SCAN_LIMIT)
        limit.rlim_cur = DESCRIPTOR_SCAN_LIMIT;
    for (unsigned descriptor = first; descriptor < limit.rlim_cur; descriptor++)
        close((int)descriptor);
}

static bool is_target(const struct linux_spawn_request *request, int descriptor)
{
    for (size_t i = 0; i < request->descriptor_count; i++)
        if (request->descriptors[i].target == descriptor)
            return true;
    return false;
}

static int duplicate(int descriptor, int lowest, int status)
{
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
    if (copy < 0)
        fail(status, LINUX_SPAWN_DESCRIPTORS, errno, 0);
    return copy;
}

static void place(int descriptor, int target, int flags, int status)
{
    if (dup3(descriptor, target, flags) < 0)
        fail(status, LINUX_SPAWN_DESCRIPTORS, errno, 0);
}

// Sources and targets may overlap in any way, so everything first moves above all places that will be taken: the
// targets, and after them those of the status pipe and the gate.
static void place_descriptors(const struct linux_spawn_request *request, int *status, int *gate)
{
    int targets_end = 0;
    for (size_t i = 0; i < request->descriptor_count; i++)
        if (request->descriptors[i].target >= targets_end)
            targets_end = request->descriptors[i].target + 1;
    int places_end = targets_end + 2;

    *status = duplicate(*status, places_end, *status);
    *gate = duplicate(*gate, places_end, *status);
    int sources[LINUX_SPAWN_DESCRIPTOR_LIMIT];
    for (size_t i = 0; i < request->descriptor_count; i++)
        sources[i] = duplicate(request->descriptors[i].source, places_end, *status);

    for (size_t i = 0; i < request->descriptor_count; i++)
        place(sources[i], request->descriptors[i].target, 0, *status);
    place(*gate, targets_end, O_CLOEXEC, *status);
    place(*status, targets_end + 1, O_CLOEXEC, *status);
    *gate = targets_end;
    *status = targets_end + 1;

    for (int descriptor = 0; descriptor < targets_end; descriptor++)
        if (!is_target(request, descriptor))
            close(descriptor);
    close_from((unsigned)places_end);
}

static void set_descriptor_limit(const struct linux_spawn_request *request, int status)
{
    struct rlimit limit;
    if (!request->set_descriptor_limit)
        return;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        fail(status, LINUX_SPAWN_LIMITS, errno, 0);
    limit.rlim_cur = request->descriptor_limit < limit.rlim_max ? request->descriptor_limit : limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        fail(status, LINUX_SPAWN_LIMITS, errno, 0);
}

// The parent may have been started with more than a program gets: what `execve` would keep is dropped. The securebits
// that take capabilities away stay.
static void reset_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    // Of a program of root, these are permitted whatever the bounding set is.
    if (syscall(SYS_capget, &header, sets) == 0 && (sets[0].inheritable | sets[1].inheritable)) {
        sets[0].inheritable = sets[1].inheritable = 0;
        syscall(SYS_capset, &header, sets);
    }
    const int keeping = SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP;
    int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    if (bits > 0 && bits & keeping)
        prctl(PR_SET_SECUREBITS, bits & ~keeping, 0, 0, 0);
}

// The same for what the parent has of the machine, such as by Nice=-5 of its unit. Lower than usual stays: it is meant for
// all that the parent starts.
static void reset_priorities(const struct linux_spawn_request *request)
{
    struct sched_param none = {0};
    int policy = sched_getscheduler(0);
    if (policy == SCHED_FIFO || policy == SCHED_RR)
        sched_setscheduler(0, SCHED_OTHER, &none);
    int nice;
    if (linux_get_nice(0, &nice) == 0 && nice < 0)
        linux_set_nice(0, 0);
    int io_priority = linux_get_io_priority(0);
    if (io_priority > 0 && io_priority >> IO_CLASS_SHIFT == IO_CLASS_REAL_TIME)
        linux_set_io_priority(0, 0);
    int file = request->reset_oom_score ? open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    ssize_t written = write(file, "0", 1);
    (void)written;
    close(file);
}

// Returns whether the child still needs PR_SET_NO_NEW_PRIVS: without CAP_SETPCAP nothing can be dropped from the bounding
// set, and what is in it must not be gained then.
static bool confine(const struct linux_spawn_request *request, int status)
{
    const struct linux_confinement *most = &request->confinement;
    if (!request->confine)
        return false;
    for (int resource = 0; resource < LINUX_LIMIT_COUNT; resource++) {
        struct rlimit limit;
        if (getrlimit(resource, &limit) < 0)
            fail(status, LINUX_SPAWN_LIMITS, errno, 0);
        rlim_t soft = most->limits[2 * resource];
        rlim_t hard = most->limits[2 * resource + 1];
        if (limit.rlim_cur <= soft && limit.rlim_max <= hard)
            continue;
        limit.rlim_max = limit.rlim_max < hard ? limit.rlim_max : hard;
        limit.rlim_cur = limit.rlim_cur < soft ? limit.rlim_cur : soft;
        if (setrlimit(resource, &limit) < 0)
            fail(status, LINUX_SPAWN_LIMITS, errno, 0);
    }
    bool no_new_privileges = most->no_new_privileges;
    for (int capability = 0; capability < 64; capability++)
        if (!(most->bounding_set >> capability & 1) && prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1
            && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
            no_new_privileges = true;
    return no_new_privileges;
}

// Else the apps of all users would share the daemon's. Before the change of user, for a user has a quota of 200 keys; a process
// that possesses a keyring may use it.
static void make_session_keyring(const struct linux_spawn_request *request, int status)
{
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0) >= 0)
        return;
    // Kernels and sandboxes without keyrings have nothing to share.
    bool is_absent = errno == ENOSYS || errno == EPERM || errno == EACCES;
    if (request->switch_user && !is_absent)
        fail(status, LINUX_SPAWN_CREDENTIALS, errno, 0);
}

static void switch_user(const struct linux_spawn_request *request, int status)
{
    if (!request->switch_user)
        return;
    gid_t group = request->group;
    uid_t user = request->user;
    if (syscall(SET_GROUPS, request->group_count, request->groups) < 0
        || syscall(SET_GROUP, group, group, group) < 0
        || syscall(SET_USER, user, user, user) < 0)
        fail(status, LINUX_SPAWN_CREDENTIALS, errno, 0);
}

// Before the change of user, which takes the right to mount away.
static void make_private_tmp(const struct linux_spawn_request *request, int status)
{
    int error = request->private_tmp ? linux_make_private_tmp() : 0;
    if (error < 0)
        fail(status, LINUX_SPAWN_PRIVATE_TMP, -error, 0);
}

// As the app's user: a path that this user cannot reach is none that the app could write to.
static void restrict_writes(const struct linux_spawn_request *request, int status)
{
    int path = -1;
    int error = request->writable_paths ? linux_restrict_writes(request->writable_paths, &path) : 0;
    if (error < 0)
        fail(status, path < 0 ? LINUX_SPAWN_LANDLOCK : LINUX_SPAWN_WRITABLE_PATH, -error, path);
}

static _Noreturn void execute(const struct linux_spawn_request *request, int status)
{
    int error = ENOENT;
    int decisive = 0;
    for (int i = 0; request->paths[i]; i++) {
        const char *path = request->paths[i];
        execve(path, request->arguments, request->environment);
        switch (errno) {
        case ENOENT:
            // The file is there: what does not exist is the interpreter it names.
            if (faccessat(AT_FDCWD, path, F_OK, 0) == 0)
                fail(status, LINUX_SPAWN_INTERPRETER, ENOENT, i);
            break;
        case ENOTDIR:
            break;
        case EACCES:
            // A later directory may have a file that can be executed, as with execvp(3).
            error = EACCES;
            decisive = i;
            break;
        default:
            fail(status, LINUX_SPAWN_EXECUTE, errno, i);
        }
    }
    fail(status, LINUX_SPAWN_EXECUTE, error, decisive);
}

// The parent may end before it has recorded the child: then the child executes nothing.
static void wait_at_gate(int gate)
{
    char byte;
    ssize_t count;
    do
        count = read(gate, &byte, sizeof byte);
    while (count < 0 && errno == EINTR);
    if (count != sizeof byte)
        _exit(127);
}

_Noreturn void linux_run_child(struct linux_child child)
{
    const struct linux_spawn_request *request = child.request;
    int status = child.status, gate = child.gate;
    reset_signal_handlers(request->ignore_sigpipe);
    // First: until it is closed here, the daemon's lock stays locked even when the daemon has been killed.
    place_descriptors(request, &status, &gate);
    // Stopped children of the daemon's own session would get SIGHUP when it dies.
    if (setsid() < 0)
        fail(status, LINUX_SPAWN_SESSION, errno, 0);
    reset_priorities(request);
    set_descriptor_limit(request, status);
    reset_capabilities();
    make_session_keyring(request, status);
    bool no_new_privileges = confine(request, status) || request->writable_paths;
    make_private_tmp(request, status);
    switch_user(request, status);
    if (no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        fail(status, LINUX_SPAWN_CREDENTIALS, errno, 0);
    umask(request->file_mode_mask);
    // After the change of user: the app's own permissions decide.
    if (chdir(request->working_directory) < 0)
        fail(status, LINUX_SPAWN_WORKING_DIRECTORY, errno, 0);
    restrict_writes(request, status);
    unblock_signals();
    wait_at_gate(gate);
    execute(request, status);
}

// Like fork(2), which glibc cannot do in a child that it does not know.
static pid_t start_program(struct linux_child child)
{
#ifdef __s390x__
    pid_t pid = (pid_t)syscall(SYS_clone, 0, SIGCHLD, 0, 0, 0);
#else
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (pid == 0)
        linux_run_child(child);
    return pid < 0 ? -errno : pid;
}

_Noreturn void linux_run_keeper(struct linux_child child)
{
    // A session of its own: a signal to that of the app or of the daemon does not reach the keeper.
    int32_t pid = setsid() < 0 || linux_set_child_subreaper(true) < 0 ? -errno : start_program(child);
    bool is_told = send(child.gate, &pid, sizeof pid, MSG_NOSIGNAL) == sizeof pid;
    if (pid < 0 || !is_told)
        _exit(127);
    reset_signal_handlers(false);
    char *const arguments[] = {"lifed-keeper", NULL};
    char *const environment[] = {NULL};
    // Moved away before the standard descriptors are replaced: it may be one of them.
    int status = fcntl(child.status, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (status >= 0 && dup3(child.request->keeper_input, STDIN_FILENO, 0) == STDIN_FILENO
        && dup3(status, STDOUT_FILENO, O_CLOEXEC) == STDOUT_FILENO) {
        close_from(STDERR_FILENO);
        child.status = STDOUT_FILENO;
        execve(child.request->keeper, arguments, environment);
    }
    int error = errno;
    kill(pid, SIGKILL);
    fail(child.status, LINUX_SPAWN_KEEPER, error, 0);
}
