// Durations. Times are CLOCK_MONOTONIC in ns.
#pragma once

#include <stdint.h>

struct lap {
    int64_t began;
    int64_t ended;
};
