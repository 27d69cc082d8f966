#define _GNU_SOURCE

// Programs that misbehave in one exact way each, for the tests of Processes.
// Each prints what the test has to know on one line once it is ready.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CLinux.h"

// The pipe of which the test runner holds the writing end, if this is one of its programs, and two openings of it: one
// ends this process with the runner, the other one its process group.
static const char *runner_path;
static int own_pipe = -1, group_pipe = -1;

// Has the kernel kill the owner, a process or -GROUP, when the test runner is gone. Most of the programs are stopped now and
// then, and could not look for themselves.
static void end_with_runner(int *opening, pid_t owner)
{
    if (*opening >= 0)
        close(*opening);
    *opening = open(runner_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct pollfd ended = {.fd = *opening};
    if (*opening < 0 || fcntl(*opening, F_SETSIG, SIGKILL) < 0 || fcntl(*opening, F_SETOWN, owner) < 0
        || fcntl(*opening, F_SETFL, O_NONBLOCK | O_ASYNC) < 0 || poll(&ended, 1, 0) != 0)
        _exit(9);
}

// In the child of a fork. If that is stopped before it comes here, it ends as one of its parent's group.
static void end_alone(void)
{
    end_with_runner(&own_pipe, getpid());
}

static void begin_session(void)
{
    setsid();
    if (runner_path)
        end_with_runner(&group_pipe, -getpgrp());
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

static void *spin(void *unused)
{
    for (volatile unsigned long turns = 0;; turns++)
        ;
    return unused;
}

static void report(const char *text)
{
    dprintf(STDOUT_FILENO, "%s %d\n", text, (int)getpid());
}

static void start_threads(int count)
{
    pthread_t thread;
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, NULL, spin, NULL) != 0)
            exit(3);
}

static void idle(void)
{
    report("ready");
    wait_for_ever();
}

static void busy(void)
{
    report("ready");
    spin(NULL);
}

static void threads(void)
{
    start_threads(4);
    report("ready");
    spin(NULL);
}

// The first thread ends: the process looks like a zombie while the other one runs.
static void headless(void)
{
    start_threads(1);
    report("ready");
    pthread_exit(NULL);
}

static void fork_children(int count)
{
    for (int i = 0; i < count; i++)
        if (fork() == 0)
            wait_for_ever();
}

// Forks a child, which reports itself, each time that it gets SIGUSR1.
static void fork_when_asked(void)
{
    sigset_t asked;
    int signal;
    sigemptyset(&asked);
    sigaddset(&asked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    report("ready");
    while (sigwait(&asked, &signal) == 0)
        if (fork() == 0) {
            report("child");
            wait_for_ever();
        }
}

// Holds a mapping of 16 MiB of a file of its own, all of it in memory.
static void map_file(void)
{
    static const size_t size = 16 << 20;
    static char block[1 << 20];
    char name[] = "/var/tmp/lifed-mapped-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    memset(block, 'x', sizeof block);
    for (size_t written = 0; written < size; written += sizeof block)
        if (write(file, block, sizeof block) != (ssize_t)sizeof block)
            exit(3);
    fsync(file);
    volatile char *memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        exit(7);
    for (size_t i = 0; i < size; i += 4096)
        (void)memory[i];
    report("ready");
    wait_for_ever();
}

static void family(void)
{
    fork_children(200);
    report("ready");
    wait_for_ever();
}

static void thousand(void)
{
    fork_children(1000);
    report("ready");
    wait_for_ever();
}

// Everybody forks and nobody ends, until there are enough; the count is shared by all.
static void bomb(void)
{
    static const int limit = 3000;
    int *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (count == MAP_FAILED)
        exit(7);
    report("ready");
    while (__atomic_add_fetch(count, 1, __ATOMIC_RELAXED) < limit)
        if (fork() == 0 && getpid() % 2)
            begin_session();
    wait_for_ever();
}

// One of three wakes the others as soon as it can.
static void waker(void)
{
    pid_t siblings[2];
    for (int i = 0; i < 2; i++) {
        siblings[i] = fork();
        if (siblings[i] == 0)
            spin(NULL);
    }
    if (fork() == 0)
        for (;;)
            for (int i = 0; i < 2; i++)
                kill(siblings[i], SIGCONT);
    report("ready");
    wait_for_ever();
}

// A debugger that passes every signal on, and what it debugs.
static void traced(void)
{
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGTRAP);
        spin(NULL);
    }
    int status;
    waitpid(child, &status, 0);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    report("ready");
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status));
    wait_for_ever();
}

// A daemon in the old style: its own session, its parent gone, a child of its own.
static void escape(char *const *environment)
{
    if (fork() == 0) {
        begin_session();
        if (fork() != 0)
            _exit(0);
        begin_session();
        if (environment) {
            char *const arguments[] = {"fixture", "busy", (char *)runner_path, NULL};
            execve("/proc/self/exe", arguments, environment);
            _exit(1);
        }
        fork_children(1);
        report("escaped");
        wait_for_ever();
    }
    wait(NULL);
    report("ready");
    wait_for_ever();
}

// The same, with nothing left of the launch's environment.
static void escape_clean(void)
{
    char *const environment[] = {NULL};
    escape(environment);
}

static void escape_marked(void)
{
    escape(NULL);
}

// The main process ends, and leaves one that does not.
static void leave_orphan(void)
{
    if (fork() == 0) {
        report("orphan");
        wait_for_ever();
    }
    _exit(5);
}

// The same, when somebody ends the main process.
static void leave_orphan_later(void)
{
    fork_children(1);
    report("ready");
    wait_for_ever();
}

// Every process forks, changes its session and lets its parent end, as fast as it can, for some generations.
static void multiply(void)
{
    report("ready");
    for (int generation = 0; generation < 4000; generation++) {
        pid_t child = fork();
        if (child > 0 && generation > 0)
            _exit(0);
        if (child > 0)
            wait_for_ever();
        if (generation % 2)
            begin_session();
    }
    wait_for_ever();
}

static void ignore_term(void)
{
    signal(SIGTERM, SIG_IGN);
    fork_children(2);
    report("ready");
    wait_for_ever();
}

static void on_term(int signal)
{
    static const char text[] = "terminated\n";
    (void)signal;
    ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(written > 0 ? 7 : 8);
}

static void obey_term(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_term);
    report("ready");
    wait_for_ever();
}

// A parent in vfork(2), as in posix_spawn(3), whose child takes its time to execute a program.
static void hold_in_vfork(void)
{
    report("ready");
    if (vfork() == 0) {
        sleep(3600);
        _exit(0);
    }
    wait_for_ever();
}

// A shell with a job that was stopped with Ctrl-Z.
static void stopped_job(void)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        raise(SIGSTOP);
        wait_for_ever();
    }
    waitpid(child, NULL, WUNTRACED);
    dprintf(STDOUT_FILENO, "job %d\n", (int)child);
    wait_for_ever();
}

static void hostile_name(void)
{
    prctl(PR_SET_NAME, "a) S 1 (\n) T 2");
    idle();
}

static void print_descriptors(void)
{
    close(own_pipe);
    close(group_pipe);
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    printf("descriptors");
    while (directory && (entry = readdir(directory)))
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
            printf(" %s", entry->d_name);
    printf("\n");
    if (directory)
        closedir(directory);
}

// Handlers cannot be inherited: any that are there were installed by a runtime library.
static void print_signals(void)
{
    sigset_t blocked;
    int count = 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int signal = 1; signal < _NSIG; signal++) {
        struct sigaction action;
        count += sigismember(&blocked, signal) == 1;
        count += sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    }
    printf("signals %d\n", count);
}

// Everything a program inherits.
static void describe(void)
{
    char text[4096];
    struct rlimit limit;
    mode_t mask = umask(0);
    gid_t groups[64];
    print_descriptors();
    print_signals();
    printf("directory %s\n", getcwd(text, sizeof text));
    ssize_t length = readlink("/proc/self/fd/0", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    printf("input %s\n", text);
    printf("leads %d\n", getsid(0) == getpid() && getpgrp() == getpid());
    printf("mask %03o\n", (unsigned)mask);
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("limit %lu\n", (unsigned long)limit.rlim_cur);
    printf("user %d %d %d %d\n", (int)getuid(), (int)geteuid(), (int)getgid(), (int)getegid());
    printf("groups");
    for (int i = 0, count = getgroups(64, groups); i < count; i++)
        printf(" %d", (int)groups[i]);
    printf("\nend\n");
}

// A sandbox that refuses the newer system calls, as old container runtimes do.
static void refuse_new_calls(void)
{
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof instructions / sizeof *instructions, .filter = instructions};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) < 0
        || prctl(PR_SET_SECCOMP, (unsigned long)SECCOMP_MODE_FILTER, &filter) < 0)
        exit(4);
}

static void spawn_in_sandbox(void)
{
    char *const paths[] = {"/proc/self/exe", NULL};
    char *const arguments[] = {"fixture", "describe", NULL};
    char *const environment[] = {NULL};
    struct linux_descriptor_mapping descriptors[] = {{0, 0}, {1, 1}, {1, 2}};
    struct linux_spawn_request request = {
        .paths = paths,
        .arguments = arguments,
        .environment = environment,
        .working_directory = "/usr",
        .descriptors = descriptors,
        .descriptor_count = 3,
        .file_mode_mask = 027,
        .set_descriptor_limit = true,
        .descriptor_limit = 321,
        .cgroup = -1,
    };
    struct linux_spawned spawned;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    dup2(1, 700);
    refuse_new_calls();
    if (linux_spawn(&request, &spawned) < 0 || spawned.pidfd < 0 || linux_open_gate(spawned.gate) < 0)
        exit(5);
    waitpid(spawned.pid, NULL, 0);
    exit(6);
}

// One that starts another and does not wait for it.
static void neglectful_parent(void)
{
    char *const paths[] = {"/proc/self/exe", NULL};
    char *const arguments[] = {"fixture", "escape", (char *)runner_path, NULL};
    char *const environment[] = {"LIFECYCLE_LAUNCH=neglected", NULL};
    struct linux_descriptor_mapping descriptors[] = {{0, 0}, {1, 1}, {1, 2}};
    struct linux_spawn_request request = {
        .paths = paths,
        .arguments = arguments,
        .environment = environment,
        .working_directory = "/",
        .descriptors = descriptors,
        .descriptor_count = 3,
        .cgroup = -1,
    };
    struct linux_spawned spawned;
    if (linux_spawn(&request, &spawned) < 0 || linux_open_gate(spawned.gate) < 0)
        exit(5);
    wait_for_ever();
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"idle", idle},
    {"busy", busy},
    {"threads", threads},
    {"headless", headless},
    {"fork-when-asked", fork_when_asked},
    {"map-file", map_file},
    {"family", family},
    {"thousand", thousand},
    {"bomb", bomb},
    {"waker", waker},
    {"traced", traced},
    {"escape", escape_marked},
    {"escape-clean", escape_clean},
    {"leave-orphan", leave_orphan},
    {"leave-orphan-later", leave_orphan_later},
    {"multiply", multiply},
    {"ignore-term", ignore_term},
    {"obey-term", obey_term},
    {"hold-in-vfork", hold_in_vfork},
    {"stopped-job", stopped_job},
    {"hostile-name", hostile_name},
    {"neglectful-parent", neglectful_parent},
    {"describe", describe},
    {"spawn-in-sandbox", spawn_in_sandbox},
};

int main(int argc, char **argv)
{
    if (argc > 2) {
        runner_path = argv[2];
        end_with_runner(&group_pipe, -getpgrp());
        end_alone();
        pthread_atfork(NULL, NULL, end_alone);
    }
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    return 0;
}
