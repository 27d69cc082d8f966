#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// One page describes the buffer, and one is the buffer, which stays nearly empty: one record is enough.
static size_t buffer_size(void) { return 2 * (size_t)sysconf(_SC_PAGESIZE); }

int linux_open_switches(pid_t pid, struct linux_switches *switches)
{
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_DUMMY;
    // Without the kernel's own events, the owner of a process may watch it.
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    event.context_switch = 1;
    event.watermark = 1;
    event.wakeup_watermark = 1;
    long descriptor = syscall(SYS_perf_event_open, &event, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    void *buffer = mmap(NULL, buffer_size(), PROT_READ | PROT_WRITE, MAP_SHARED, (int)descriptor, 0);
    if (buffer == MAP_FAILED) {
        int error = errno;
        close((int)descriptor);
        return -error;
    }
    *switches = (struct linux_switches){.descriptor = (int)descriptor, .buffer = (uintptr_t)buffer};
    return 0;
}

bool linux_has_switched(struct linux_switches switches)
{
    const struct perf_event_mmap_page *page = (const void *)switches.buffer;
    return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) != 0;
}

void linux_close_switches(struct linux_switches switches)
{
    munmap((void *)switches.buffer, buffer_size());
    close(switches.descriptor);
}
