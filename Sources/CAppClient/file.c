#define _GNU_SOURCE
#include "CAppClient.h"
#include "close.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *folder) { return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC); }

static int write_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) return -1;
        if (written > 0) bytes += written, count -= (size_t)written;
    }
    return 0;
}

static int write_new(int folder, const char *name, const void *bytes, size_t count) {
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    int result = write_all(fd, bytes, count);
    if (result == 0) result = fsync(fd);
    close_quietly(fd);
    return result;
}

static int sync_folder(int folder) {
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -1;
    int result = fsync(fd);
    close_quietly(fd);
    return result;
}

int lifecycle_replace_file(const char *folder_path, const char *name, const void *bytes, size_t count) {
    char new_name[NAME_MAX];
    snprintf(new_name, sizeof new_name, "%s.new", name);
    int folder = open_folder(folder_path);
    if (folder < 0) return -1;
    int result = write_new(folder, new_name, bytes, count);
    if (result == 0) result = renameat(folder, new_name, folder, name);
    if (result == 0) {
        result = sync_folder(folder);
    } else {
        int error = errno;
        unlinkat(folder, new_name, 0);
        errno = error;
    }
    close_quietly(folder);
    return result;
}

static int64_t read_all(int fd, char *bytes, size_t capacity) {
    struct stat status;
    if (fstat(fd, &status) != 0) return -1;
    if (!S_ISREG(status.st_mode)) return 0;
    size_t count = 0;
    while (count < capacity) {
        ssize_t result = read(fd, bytes + count, capacity - count);
        if (result < 0 && errno != EINTR) return -1;
        if (result == 0) break;
        if (result > 0) count += (size_t)result;
    }
    return (int64_t)count;
}

int64_t lifecycle_read_file(const char *folder_path, const char *name, void *bytes, size_t capacity) {
    int folder = open_folder(folder_path);
    if (folder < 0) return -1;
    // O_NONBLOCK: open(2) waits for the other end of a FIFO.
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close_quietly(folder);
    if (fd < 0) return -1;
    int64_t result = read_all(fd, bytes, capacity);
    close_quietly(fd);
    return result;
}
