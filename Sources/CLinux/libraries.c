#define _GNU_SOURCE
#include "libraries.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// By the dynamic section of this program, which the linker has made.
static bool is_bound(void)
{
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_BIND_NOW)
            return true;
    return false;
}

// A preloaded library may stand in for functions of the C library, and need its data for that.
static bool has_preloaded(void) { return getenv("LD_PRELOAD") || access("/etc/ld.so.preload", F_OK) == 0; }

// The program, the C library and the linker, which the child needs, and libsystemd, which forks for a bus of the address unixexec:.
// The kernel's own code has no path.
static bool is_needed(const char *path)
{
    return path[0] != '/' || strstr(path, "/libc.so.") || strstr(path, "/ld-") || strstr(path, "/libsystemd.so.");
}

static unsigned long long loaded, withheld;

static int withhold(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size, (void)context;
    loaded = object->dlpi_adds;
    if (loaded == withheld)
        return 1;
    if (is_needed(object->dlpi_name))
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int each = 0; each < object->dlpi_phnum; each++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[each];
        // Pages that were not written are not copied.
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
        madvise((void *)start, end - start, MADV_DONTFORK);
    }
    return 0;
}

void linux_withhold_libraries(void)
{
    static enum { UNKNOWN, YES, NO } is_possible;
    if (is_possible == UNKNOWN)
        is_possible = is_bound() && !has_preloaded() ? YES : NO;
    if (is_possible == NO)
        return;
    dl_iterate_phdr(withhold, NULL);
    withheld = loaded;
}
