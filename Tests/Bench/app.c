// The app that is measured: "app NOTES PROCESSES". It sleeps, and notes when it began and when it was continued.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "notes.h"

static void fork_sleepers(int count) {
    for (int each = 0; each < count; each++) {
        pid_t child = fork();
        if (child < 0) exit(1);
        if (child == 0)
            for (;;) pause();
    }
}

int main(int count, char **arguments) {
    int64_t start = now();
    if (count != 3) return 64;
    struct notes *notes = map_notes(arguments[1]);
    notes->started = start;

    int processes = atoi(arguments[2]);
    fork_sleepers(processes - 1);

    // A blocked SIGCONT continues a stopped process all the same, and is then waited for without a handler.
    sigset_t continued;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    sigprocmask(SIG_BLOCK, &continued, NULL);
    notes->processes = processes;
    for (;;) {
        sigwaitinfo(&continued, NULL);
        int64_t unset = 0;
        atomic_compare_exchange_strong(&notes->continued, &unset, now());
    }
}
