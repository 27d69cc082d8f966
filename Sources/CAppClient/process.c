#define _GNU_SOURCE
#include "CAppClient.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

int64_t lifecycle_now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// A process has one life cycle, whichever thread opens it.
static atomic_int claimed_by;

bool lifecycle_claim(void) {
    int self = getpid();
    int claimant = claimed_by;
    // A child that was forked has its parent's memory, and a life cycle of its own.
    return claimant != self && atomic_compare_exchange_strong(&claimed_by, &claimant, self);
}

void lifecycle_disclaim(void) { claimed_by = 0; }

int lifecycle_process(void) { return getpid(); }
