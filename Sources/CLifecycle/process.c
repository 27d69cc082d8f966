#define _GNU_SOURCE
#include "CLifecycle.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int64_t lifecycle_now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// There is one life cycle in a process, whichever thread opens it.
static atomic_bool is_claimed;

bool lifecycle_claim(void) { return !atomic_exchange(&is_claimed, true); }

void lifecycle_disclaim(void) { is_claimed = false; }

int lifecycle_process(void) { return getpid(); }

void lifecycle_exit(void) { exit(0); }
