// Programs that are awkward to hold together: awkward KIND

#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char file[4096];

static _Noreturn void rest(void) {
    for (;;) pause();
}

static void nap(long milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time)) {}
}

// Executes this program again, with an empty environment.
static _Noreturn void become(const char *kind) {
    char *arguments[] = {file, (char *)kind, NULL}, *nothing[] = {NULL};
    execve(file, arguments, nothing);
    _exit(1);
}

// Leaves a part behind: it has neither the parent, the session, the group nor the environment of the program.
static void part(const char *kind) {
    pid_t child = fork();
    if (child) {
        waitpid(child, NULL, 0);
        return;
    }
    setsid();
    if (fork()) _exit(0);
    setsid();
    become(kind);
}

// Fourteen children, down to the third generation.
static void forks(void) {
    for (int depth = 0; depth < 3;) {
        pid_t first = fork(), second = first ? fork() : 0;
        if (first && second) break;
        depth++;
    }
    rest();
}

// As nginx does: the title is written over the arguments and the environment.
static void titled(int count, char **arguments) {
    if (fork()) _exit(0);
    setsid();
    char *end = environ[0] ? environ[0] : arguments[count - 1];
    for (char **each = environ; *each; each++) end = *each + strlen(*each);
    memset(arguments[0], 0, (size_t)(end - arguments[0]));
    memcpy(arguments[0], "titled", 6);
    for (int workers = 0;; workers--) {
        for (; workers < 2; workers++) {
            if (!fork()) rest();
        }
        while (wait(NULL) < 0) {}
    }
}

static void churn(void) {
    for (unsigned number = 0;; number++) {
        if (!fork()) {
            if (number % 3 == 0) setsid();
            nap(number % 5);
            _exit(0);
        }
        nap(2);
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
    }
}

static void generations(void) {
    for (;;) {
        nap(10);
        if (fork()) _exit(0);
        setsid();
    }
}

static void groups(void) {
    if (!fork()) {
        setpgid(0, 0);
        if (!fork()) rest();
        rest();
    }
    if (!fork()) {
        setsid();
        if (!fork()) setpgid(0, 0);
        rest();
    }
    rest();
}

static void stubborn(void) {
    for (int number = 1; number <= SIGTERM; number++) signal(number, SIG_IGN);
    if (!fork()) rest();
    if (!fork()) setsid();
    rest();
}

static void crash(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    part("rest");
    nap(getpid() % 7 * 100);
    abort();
}

static void leave(int signal) {
    part("rest");
    part("rest");
    _exit(0);
}

int main(int count, char **arguments) {
    if (count != 2 || readlink("/proc/self/exe", file, sizeof file - 1) < 0) return 2;
    char kind[32] = "";
    strncpy(kind, arguments[1], sizeof kind - 1);
#define is(name) !strcmp(kind, name)
    if (is("forks")) forks();
    if (is("titled")) titled(count, arguments);
    if (is("churns")) churn();
    if (is("generations")) generations();
    if (is("groups")) groups();
    if (is("stubborn")) stubborn();
    if (is("crashes")) crash();
    if (is("daemon")) part("rest");
    if (is("daemons")) part("leaves");
    if (is("quits")) {
        part("rest");
        if (!fork()) rest();
    }
    if (is("leaves")) {
        for (int number = 0; number < 3; number++) part("rest");
        rest();
    }
    if (is("sheds")) {
        for (;; nap(50)) part("short");
    }
    if (is("short")) nap(200);
    if (is("hides")) {
        part("hidden");
        rest();
    }
    if (is("hidden")) {
        prctl(PR_SET_DUMPABLE, 0);
        rest();
    }
    if (is("vfork")) {
        if (!vfork()) rest();
    }
    if (is("again")) {
        nap(20);
        become("again");
    }
    if (is("parts")) {
        signal(SIGTERM, leave);
        rest();
    }
    if (is("rest")) rest();
    return 0;
}
