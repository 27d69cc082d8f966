#define _DEFAULT_SOURCE
#include "CLinux.h"
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Where the heap begins: start_brk, the 47th field of proc_pid_stat(5). 0 where that cannot be read.
static uintptr_t read_heap_start(void)
{
    char text[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return 0;
    text[length] = 0;
    // A name may hold spaces and parentheses: the fields from the third on begin behind the last one.
    const char *field = strrchr(text, ')');
    for (int number = 2; field && number < 47; number++)
        field = strchr(field + 1, ' ');
    uintptr_t start = 0;
    return field && sscanf(field, " %ju", &start) == 1 ? start : 0;
}

void linux_advise_heap(int advice)
{
    static uintptr_t start;
    if (start == 0)
        start = read_heap_start();
    uintptr_t end = (uintptr_t)sbrk(0), own = (uintptr_t)&errno;
    // A statically linked program has its thread's variables there, which a child cannot do without.
    bool holds_own = start <= own && own < end;
    if (start != 0 && start < end && !holds_own)
        madvise((void *)start, end - start, advice);
}

void linux_release_large_blocks(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

// The linker's: the beginning of the program, and the end of its code. All of it is read-only, and nothing is relocated there.
extern const char __executable_start[], etext[];

void linux_release_heap(void)
{
    malloc_trim(0);
}

void linux_release_code(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)__executable_start, end = (uintptr_t)etext & ~(page - 1);
    if (start % page == 0 && start < end)
        madvise((void *)start, end - start, MADV_DONTNEED);
}
