#define _GNU_SOURCE

// Programs of one process.

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "programs.h"
#include "support.h"

static void *sleep_for_ever(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

static void start_threads(int count)
{
    pthread_t thread;
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, NULL, spin, NULL) != 0)
            exit(3);
}

void idle(void)
{
    report("ready");
    wait_for_ever();
}

// Under the name of a helper, as a user who may not look at its file.
void hide_memory(void)
{
    prctl(PR_SET_NAME, "ssh-agent");
    if (geteuid() == 0 && setuid(65534) != 0)
        exit(9);
    prctl(PR_SET_DUMPABLE, 0);
    report("ready");
    wait_for_ever();
}

void busy(void)
{
    report("ready");
    spin(NULL);
}

void threads(void)
{
    start_threads(4);
    report("ready");
    spin(NULL);
}

// More than get values of their own. They sleep, on small stacks.
void many_threads(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 32 << 10);
    for (int i = 0; i < 3000; i++)
        if (pthread_create(&thread, &small, sleep_for_ever, NULL) != 0)
            exit(3);
    report("ready");
    wait_for_ever();
}

// The first thread ends: the process looks like a zombie while the other one runs.
void headless(void)
{
    start_threads(1);
    report("ready");
    pthread_exit(NULL);
}

// Holds a mapping of 16 MiB of a file of its own, all of it in memory.
void map_file(void)
{
    static const size_t size = 16 << 20;
    static char block[1 << 20];
    char name[] = "/var/tmp/lifed-mapped-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    memset(block, 'x', sizeof block);
    for (size_t written = 0; written < size; written += sizeof block)
        if (write(file, block, sizeof block) != (ssize_t)sizeof block)
            exit(3);
    fsync(file);
    volatile char *memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory == MAP_FAILED)
        exit(7);
    for (size_t i = 0; i < size; i += 4096)
        (void)memory[i];
    // Pages that stay divide the mapping, and must not keep the rest.
    for (size_t i = 0; i < size; i += sizeof block)
        if (mlock((const void *)(memory + i), 4096) < 0)
            exit(8);
    report("ready");
    wait_for_ever();
}

void hostile_name(void)
{
    prctl(PR_SET_NAME, "a) S 1 (\n) T 2");
    idle();
}
