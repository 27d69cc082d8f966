#define _GNU_SOURCE

// Programs that meet stopping, continuing and ending in ways of their own.

#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"
#include "support.h"

// One of three wakes the others as soon as it can.
void waker(void)
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
void traced(void)
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

void ignore_term(void)
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

void obey_term(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, on_term);
    report("ready");
    wait_for_ever();
}

// A parent in vfork(2), as in posix_spawn(3), whose child takes its time to execute a program.
void hold_in_vfork(void)
{
    report("ready");
    if (vfork() == 0) {
        sleep(3600);
        _exit(0);
    }
    wait_for_ever();
}

// The same, with memory of its own for the child.
void hold_in_clone(void)
{
    report("ready");
    if (syscall(SYS_clone, CLONE_VFORK | SIGCHLD, 0L, 0L, 0L, 0L) == 0) {
        sleep(3600);
        _exit(0);
    }
    wait_for_ever();
}

// A shell with a job that was stopped with Ctrl-Z.
void stopped_job(void)
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
