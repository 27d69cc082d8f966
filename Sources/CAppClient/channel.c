#include "CAppClient.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static enum lifecycle_io outcome(ssize_t result, size_t *count) {
    *count = result > 0 ? (size_t)result : 0;
    if (result > 0) return LIFECYCLE_IO_DONE;
    return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? LIFECYCLE_IO_WOULD_BLOCK : LIFECYCLE_IO_ENDED;
}

// Flags of the calls, not of the descriptor, which a child process may share.
enum lifecycle_io lifecycle_receive(int fd, void *bytes, size_t capacity, size_t *count) {
    ssize_t result;
    do result = recv(fd, bytes, capacity, MSG_DONTWAIT);
    while (result < 0 && errno == EINTR);
    return outcome(result, count);
}

enum lifecycle_io lifecycle_send(int fd, const void *bytes, size_t length, size_t *count) {
    ssize_t result;
    do result = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (result < 0 && errno == EINTR);
    return outcome(result, count);
}

void lifecycle_shut_down(int fd) { shutdown(fd, SHUT_RDWR); }

void lifecycle_close_descriptor(int fd) { close(fd); }
