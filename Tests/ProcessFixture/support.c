#define _GNU_SOURCE

// What all of the programs use.

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "support.h"

// The pipe of which the test runner holds the writing end, if this is one of its programs, and two openings of it: one
// ends this process with the runner, the other one its process group.
const char *runner_path;
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

void live_with_runner(const char *path)
{
    runner_path = path;
    end_with_runner(&group_pipe, -getpgrp());
    end_alone();
    pthread_atfork(NULL, NULL, end_alone);
}

void close_runner_pipe(void)
{
    close(own_pipe);
    close(group_pipe);
}

void begin_session(void)
{
    setsid();
    if (runner_path)
        end_with_runner(&group_pipe, -getpgrp());
}

void wait_for_ever(void)
{
    for (;;)
        pause();
}

void *spin(void *unused)
{
    for (volatile unsigned long turns = 0;; turns++)
        ;
    return unused;
}

void report(const char *text)
{
    dprintf(STDOUT_FILENO, "%s %d\n", text, (int)getpid());
}

void fork_children(int count)
{
    for (int i = 0; i < count; i++)
        if (fork() == 0)
            wait_for_ever();
}
