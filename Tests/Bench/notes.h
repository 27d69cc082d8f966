// What a measured app notes about itself, in a file that the bench has mapped, too. Times are CLOCK_MONOTONIC in ns.
#pragma once

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct notes {
    _Atomic int64_t started;    // when main began
    _Atomic int64_t continued;  // when it first ran after a SIGCONT; the bench sets it to 0
    _Atomic int64_t processes;  // how many processes its tree has, once all are there
    _Atomic int64_t active;     // when a connected app was told that it is active; the bench sets it to 0
};

static inline struct notes *map_notes(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *memory = mmap(NULL, sizeof(struct notes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) exit(1);
    close(file);
    return memory;
}

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}
