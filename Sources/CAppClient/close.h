#ifndef CLIFECYCLE_CLOSE_H
#define CLIFECYCLE_CLOSE_H

#include <errno.h>
#include <unistd.h>

// Closes a descriptor and keeps errno.
static inline void close_quietly(int fd) {
    int error = errno;
    close(fd);
    errno = error;
}

#endif
