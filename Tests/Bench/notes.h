// What a measured app notes about itself, in a file that the bench has mapped, too. Times are CLOCK_MONOTONIC in ns.
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

struct notes {
    _Atomic int64_t started;    // when main began
    _Atomic int64_t continued;  // when it first ran after a SIGCONT; the bench sets it to 0
    _Atomic int64_t processes;  // how many processes its tree has, once all are there
};

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}
