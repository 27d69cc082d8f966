#define _GNU_SOURCE

// What a program inherits, and programs that start others by way of CLinux.

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CLinux.h"
#include "programs.h"
#include "support.h"

static void print_descriptors(void)
{
    close_runner_pipe();
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
void describe(void)
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
    printf("keyring %ld\n", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
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

void spawn_in_sandbox(void)
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

// A process that starts another and does not wait for it.
void neglectful_parent(void)
{
    char *const paths[] = {"/proc/self/exe", NULL};
    char *const arguments[] = {"fixture", "escape", (char *)runner_path, NULL};
    char *const environment[] = {NULL};
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
