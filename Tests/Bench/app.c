// The measured app: "app NOTES". It sleeps, and notes in shared memory what it sees. Times are CLOCK_MONOTONIC in ns.

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// apps.py reads the same memory.
struct notes {
    _Atomic int64_t pid;
    _Atomic int64_t started;    // when main began; the bench sets it to 0 before a launch
    _Atomic int64_t continued;  // when the app first ran after a SIGCONT; the bench sets it to 0 before a switch
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(int count, char **arguments) {
    int64_t start = now();
    if (count != 2) return 64;
    int file = open(arguments[1], O_RDWR | O_CLOEXEC);
    struct notes *notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (notes == MAP_FAILED) return 1;

    // A blocked SIGCONT still continues the process, and sigwaitinfo(2) returns it without a handler.
    sigset_t continued;
    sigemptyset(&continued);
    sigaddset(&continued, SIGCONT);
    sigprocmask(SIG_BLOCK, &continued, NULL);
    notes->pid = getpid();
    notes->started = start;
    for (;;) {
        sigwaitinfo(&continued, NULL);
        int64_t unset = 0;
        atomic_compare_exchange_strong(&notes->continued, &unset, now());
    }
}
