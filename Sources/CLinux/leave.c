#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// SCM_MAX_FD of the kernel, see unix(7).
#define BATCH 253
// Free numbers in a row, after which none is expected.
#define LONGEST_GAP 1024

union message {
    struct cmsghdr header;
    char space[CMSG_SPACE(BATCH * sizeof(int))];
};

static bool send_descriptors(int socket, const int *numbers, size_t count)
{
    union message control = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.header), numbers, count * sizeof(int));
    struct iovec text = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &text,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

// The end of a socket or a pipe tells the other side something, so it must not come later.
static bool may_wait(const struct stat *status)
{
    return !S_ISSOCK(status->st_mode) && !S_ISFIFO(status->st_mode);
}

// The kernel closes the numbers in their order: the queue of the first is complete, and refers to itself, when the second is
// closed, which starts the collection of such queues.
static int pair[2] = {-1, -1};

void linux_close_later(void)
{
    int batch[BATCH];
    linux_close_at_end();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return;
    if (pair[0] > pair[1] || !send_descriptors(pair[1], pair, 1))
        return linux_close_at_end();
    size_t count = 0;
    bool is_taken = true;
    for (int number = STDERR_FILENO + 1, gap = 0; is_taken && gap < LONGEST_GAP; number++) {
        struct stat status;
        gap = fstat(number, &status) < 0 ? gap + 1 : 0;
        if (gap > 0 || !may_wait(&status))
            continue;
        batch[count++] = number;
        if (count < BATCH)
            continue;
        is_taken = send_descriptors(pair[1], batch, count);
        count = 0;
    }
    if (is_taken && count > 0)
        send_descriptors(pair[1], batch, count);
}

void linux_close_at_end(void)
{
    for (int end = 0; end < 2; end++) {
        if (pair[end] >= 0)
            close(pair[end]);
        pair[end] = -1;
    }
}
