#define _GNU_SOURCE

// Programs of several processes, some of which leave the others.

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"
#include "support.h"

// Forks a child, which reports itself, each time that it gets SIGUSR1.
void fork_when_asked(void)
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

void family(void)
{
    fork_children(200);
    report("ready");
    wait_for_ever();
}

void thousand(void)
{
    fork_children(1000);
    report("ready");
    wait_for_ever();
}

// Every process forks and none ends, until there are enough; the count is shared by all.
void bomb(void)
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
void escape_clean(void)
{
    char *const environment[] = {NULL};
    escape(environment);
}

void escape_marked(void)
{
    escape(NULL);
}

// The main process ends, and leaves one that does not.
void leave_orphan(void)
{
    if (fork() == 0) {
        report("orphan");
        wait_for_ever();
    }
    _exit(5);
}

// The same, when another program ends the main process.
void leave_orphan_later(void)
{
    fork_children(1);
    report("ready");
    wait_for_ever();
}

// A child that a process between is the parent of, until that ends.
void middle(void)
{
    if (fork() == 0) {
        if (fork() == 0) {
            report("leaf");
            wait_for_ever();
        }
        report("middle");
        wait_for_ever();
    }
    report("ready");
    wait_for_ever();
}

// Every process forks, changes its session and lets its parent end, as fast as it can, for some generations.
void multiply(void)
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

// Ten chains in which each process forks the next and exits, faster than a signal can reach it.
void chains(void)
{
    for (int chain = 0; chain < 10; chain++) {
        if (fork() > 0)
            continue;
        begin_session();
        for (int generation = 0; generation < 60000; generation++) {
            if (fork() > 0)
                _exit(0);
            usleep(1000);
        }
        _exit(0);
    }
    report("ready");
    wait_for_ever();
}
