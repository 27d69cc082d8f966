#include "CSystemd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(SD_EVENT_ONESHOT == -1, "EventLoop.swift relies on the enabled states of libsystemd 252");

// The number that the next descriptor of this process will get, or -1.
static int next_descriptor(void)
{
    int descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor;
}

static void make_non_blocking_if_datagram(int descriptor)
{
    int type = 0;
    socklen_t length = sizeof type;
    if (descriptor >= 0 && getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM)
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

// libsystemd sends from a blocking socket that it opens at the first entry and keeps. A journald that hangs would take
// its writer with it as soon as that socket's buffer is full, so the socket is made non-blocking when it appears; the
// library passes EAGAIN on. The process has one thread, so nothing else can take the number meanwhile.
int csystemd_journal_send(const struct iovec *fields, int count)
{
    static bool is_open;
    if (is_open)
        return sd_journal_sendv(fields, count);
    int descriptor = next_descriptor();
    int result = sd_journal_sendv(fields, count);
    make_non_blocking_if_datagram(descriptor);
    is_open = result >= 0;
    return result;
}
