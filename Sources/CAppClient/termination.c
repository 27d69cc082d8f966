#define _GNU_SOURCE
#include "CAppClient.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

// A signal's disposition belongs to the process, so this does too. Atomics, because the handler may run on any thread.
static const int none = -1;
static atomic_int caught_by = -1;
static atomic_bool requested;
static _Atomic pid_t owner;
static struct sigaction former;

// Only async-signal-safe calls: see signal-safety(7).
static void on_termination(int signal_number) {
    int saved = errno;
    if (getpid() != owner) {
        // A forked child shares the waker: its SIGTERM must not reach the parent.
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    } else {
        requested = true;
        int waker = caught_by;
        if (waker >= 0) lifecycle_wake(waker);
    }
    errno = saved;
}

int lifecycle_termination_catch(int waker) {
    int expected = none;
    // A forked child has a copy of its parent's waker.
    if (owner != getpid()) expected = caught_by;
    if (!atomic_compare_exchange_strong(&caught_by, &expected, waker)) {
        errno = EBUSY;
        return -1;
    }
    owner = getpid();
    requested = false;
    // A handler, not a blocked signal and signalfd: execve puts a handler back and keeps a mask.
    struct sigaction action = {.sa_handler = on_termination, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    struct sigaction current;
    int result = sigaction(SIGTERM, &action, &current);
    if (result != 0) {
        caught_by = none;
    } else if (current.sa_handler != on_termination) {
        former = current;
    }
    return result;
}

bool lifecycle_termination_take(void) { return atomic_exchange(&requested, false); }

void lifecycle_termination_release(void) {
    struct sigaction current;
    // The program may have installed another handler since.
    if (sigaction(SIGTERM, NULL, &current) == 0 && current.sa_handler == on_termination)
        sigaction(SIGTERM, &former, NULL);
    caught_by = none;
}
