#define _GNU_SOURCE
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

// An app usually gets its three standard descriptors and its channel; beside these are the status and the gate.
#define WINDOW_SIZE 8
#define OWN_ENDS 2

// To wait for the child takes about as long as to copy and to close so many (measured on Linux 6.18).
#define WORTH_SHARING_FROM 256

// The child has one call to make until then. A machine that does not let it in this time would not let an app run either.
#define PATIENCE_IN_MILLISECONDS 5000

// The numbers of the window, in ascending order, and one descriptor that stands in them while nothing else does.
static int window[WINDOW_SIZE];
static int placeholder;
static bool is_reserved;

static int window_end(void)
{
    return window[WINDOW_SIZE - 1] + 1;
}

int linux_reserve_window(void)
{
    // Closes nothing, and unshares nothing where nothing is shared: it tells whether the call is there (Linux 5.9).
    if (is_reserved || syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_UNSHARE) < 0)
        return is_reserved ? 0 : -errno;
    int opened[WINDOW_SIZE + 1];
    for (int each = 0; each <= WINDOW_SIZE; each++) {
        opened[each] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (opened[each] < 0) {
            int error = -errno;
            while (each-- > 0)
                close(opened[each]);
            return error;
        }
    }
    for (int each = 0; each < WINDOW_SIZE; each++)
        window[each] = opened[each];
    placeholder = opened[WINDOW_SIZE];
    is_reserved = true;
    return 0;
}

// Low numbers are free again after some apps have ended, so the lowest one does not tell. The directory has the number of open
// descriptors as its size (Linux 6.2), and 0 before.
static bool are_many_open(int next)
{
    static int directory = -1;
    struct stat status = {0};
    if (next >= WORTH_SHARING_FROM)
        return true;
    if (directory < 0)
        directory = open("/proc/thread-self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return directory >= 0 && fstat(directory, &status) == 0 && status.st_size >= WORTH_SHARING_FROM;
}

bool linux_window_is_worth_it(const struct linux_spawn_request *request, int next)
{
    return is_reserved && request->descriptor_count + OWN_ENDS <= WINDOW_SIZE && are_many_open(next);
}

int linux_fill_window(struct linux_child *child)
{
    const struct linux_spawn_request *request = child->request;
    size_t used = 0;
    for (; used < request->descriptor_count; used++) {
        struct linux_descriptor_mapping *mapping = (struct linux_descriptor_mapping *)&request->descriptors[used];
        if (dup3(mapping->source, window[used], O_CLOEXEC) < 0)
            return -errno;
        mapping->source = window[used];
    }
    int *ends[OWN_ENDS] = {&child->status, &child->gate};
    for (int each = 0; each < OWN_ENDS; each++) {
        if (dup3(*ends[each], window[used], O_CLOEXEC) < 0)
            return -errno;
        *ends[each] = window[used++];
    }
    return 0;
}

void linux_leave_shared_table(int gate)
{
    int32_t error = 0;
    if (syscall(SYS_close_range, (unsigned)window_end(), ~0U, CLOSE_RANGE_UNSHARE) < 0)
        error = -errno;
    if (send(gate, &error, sizeof error, MSG_NOSIGNAL) != sizeof error || error < 0)
        _exit(127);
}

int linux_wait_for_own_table(int gate, int pidfd)
{
    struct pollfd sources[] = {{.fd = gate, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
    int count;
    do
        count = poll(sources, 2, PATIENCE_IN_MILLISECONDS);
    while (count < 0 && errno == EINTR);
    int32_t error = count == 0 ? -ETIMEDOUT : -ECHILD;
    if (recv(gate, &error, sizeof error, MSG_DONTWAIT) != sizeof error || error < 0)
        linux_pidfd_send_signal(pidfd, SIGKILL);
    return error;
}

void linux_clear_window(void)
{
    for (int each = 0; each < WINDOW_SIZE; each++)
        dup3(placeholder, window[each], O_CLOEXEC);
}
