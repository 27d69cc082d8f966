#define _GNU_SOURCE
#include "CLifecycle.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int64_t lifecycle_now_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int lifecycle_process(void) { return getpid(); }

void lifecycle_exit(void) { exit(0); }
