// lifed-keeper: the parent of an app that has no control group.
//
// Whatever the app starts stays below its keeper, because the keeper is its child subreaper, also while no daemon runs. The
// keeper tells the daemon how its children end, stop and continue, and decides nothing.
//
// It starts as the parent of the app's main process. Standard input is a listening SOCK_SEQPACKET socket, to which the daemon
// connects, and the next daemon again.

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keeper.h"

enum { LISTENER = STDIN_FILENO, CAPACITY = 64 };

// The time in which a daemon comes back, in seconds. Then nobody asks how the app has ended.
enum { TIME_WITHOUT_DAEMON = 60 };

static pid_t main_process;
// What the daemon has not confirmed, oldest first.
static struct linux_keeper_news news[CAPACITY];
static size_t news_count;
// How much of it was sent over the present connection.
static size_t sent_count;
static uint32_t last_number;
static int connection = -1;

static void remove_news(size_t index)
{
    news_count--;
    memmove(&news[index], &news[index + 1], (news_count - index) * sizeof news[0]);
    if (sent_count > index)
        sent_count--;
}

static bool is_end_of_main(const struct linux_keeper_news *one)
{
    return one->pid == main_process && (one->code == CLD_EXITED || one->code == CLD_KILLED || one->code == CLD_DUMPED);
}

// With too many, the oldest go, except the end of the main process, which nothing else tells.
static void add_news(const siginfo_t *change)
{
    if (news_count == CAPACITY)
        remove_news(is_end_of_main(&news[0]) ? 1 : 0);
    news[news_count++] = (struct linux_keeper_news){
        .number = ++last_number, .pid = change->si_pid, .code = change->si_code, .status = change->si_status};
}

// Returns whether a child is left.
static bool read_children(void)
{
    for (;;) {
        siginfo_t change = {0};
        if (waitid(P_ALL, 0, &change, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | __WALL) < 0)
            return false;
        if (change.si_pid == 0)
            return true;
        add_news(&change);
    }
}

static void disconnect(void)
{
    close(connection);
    connection = -1;
}

static void accept_daemon(void)
{
    int accepted = accept4(LISTENER, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0)
        return;
    disconnect();
    connection = accepted;
    sent_count = 0;
}

static void receive(void)
{
    uint32_t number;
    ssize_t count;
    do
        count = recv(connection, &number, sizeof number, 0);
    // Said once, before what a daemon has sent that went without having read the news.
    while (count < 0 && errno == ECONNRESET);
    if (count < 0 && errno == EAGAIN)
        return;
    if (count != sizeof number) {
        disconnect();
        return;
    }
    if (number == LINUX_KEEPER_RELEASE)
        _exit(EXIT_SUCCESS);
    if (main_process == 0)
        main_process = (pid_t)number;
    while (sent_count > 0 && news[0].number <= number)
        remove_news(0);
}

static void send_news(void)
{
    while (connection >= 0 && sent_count < news_count) {
        if (send(connection, &news[sent_count], sizeof news[0], MSG_NOSIGNAL) >= 0)
            sent_count++;
        else if (errno == EPIPE || errno == ECONNRESET)
            // A daemon that only releases the keeper has gone already.
            receive();
        else
            return;
    }
}

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time.tv_sec;
}

static void interrupt(int number)
{
    (void)number;
}

// Blocks every signal. Returns the mask for a wait, which SIGCHLD interrupts.
static sigset_t block_signals(void)
{
    sigset_t signals;
    signal(SIGCHLD, interrupt);
    sigfillset(&signals);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    sigdelset(&signals, SIGCHLD);
    return signals;
}

// The main process is reaped after the daemon has looked at it, and has sent its number, or has ended.
static void wait_for_start(void)
{
    accept_daemon();
    if (connection < 0)
        return;
    struct pollfd start = {.fd = connection, .events = POLLIN};
    poll(&start, 1, -1);
    receive();
}

int main(void)
{
    sigset_t signals = block_signals();
    // Once more, after the daemon: whoever connects from now on is told that this process listens (SO_PEERCRED).
    listen(LISTENER, LINUX_KEEPER_BACKLOG);
    wait_for_start();
    time_t connected = now();
    for (;;) {
        bool has_children = read_children();
        send_news();
        if (connection >= 0 || has_children)
            connected = now();
        time_t left = connected + TIME_WITHOUT_DAEMON - now();
        if (!has_children && (connection >= 0 ? news_count == 0 : left <= 0))
            _exit(EXIT_SUCCESS);

        struct pollfd descriptors[] = {
            {.fd = LISTENER, .events = POLLIN},
            {.fd = connection, .events = sent_count < news_count ? POLLIN | POLLOUT : POLLIN},
        };
        ppoll(descriptors, 2, has_children || connection >= 0 ? NULL : &(struct timespec){.tv_sec = left}, &signals);
        if (descriptors[1].revents & ~POLLOUT)
            receive();
        if (descriptors[0].revents)
            accept_daemon();
    }
}
