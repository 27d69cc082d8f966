#define _GNU_SOURCE
#include "sandbox.h"

#include "CLinux.h"

// Everything but linux_landlock_version() runs between clone and execve, see child.c.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Kernel headers older than the running kernel lack parts of these, so they are spelled out (landlock(7)). The numbers
// of the calls are those of all architectures.
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ONLY_VERSION 1U
#define BENEATH_A_PATH 1

#define WRITE_FILE (1ULL << 1)
#define REMOVE_AND_MAKE (0x1ffULL << 4)
#define MOVE (1ULL << 13)
#define TRUNCATE (1ULL << 14)
#define WRITE_TO_FILES (WRITE_FILE | TRUNCATE)
#define WRITE (WRITE_TO_FILES | REMOVE_AND_MAKE | MOVE)

// Linux 6.2, the first that also restricts truncate(2).
#define LEAST_VERSION 3

// What systemd gives to a private /tmp.
#define TMP_OPTIONS "mode=1777,size=10%,nr_inodes=400k"

struct ruleset {
    uint64_t handled_access_fs;
};

struct rule {
    uint64_t allowed_access;
    int32_t parent;
} __attribute__((packed));

int linux_make_private_tmp(void)
{
    // What others mount later still appears.
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0
        || mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, TMP_OPTIONS) < 0)
        return -errno;
    bool is_mounted = mount("tmpfs", "/var/tmp", "tmpfs", MS_NOSUID | MS_NODEV, TMP_OPTIONS) == 0;
    return is_mounted || errno == ENOENT ? 0 : -errno;
}

int linux_landlock_version(void)
{
    long version = syscall(CREATE_RULESET, NULL, 0UL, ONLY_VERSION);
    return version < 0 ? 0 : (int)version;
}

// Lets files below a path be written to: all of them, or, for `access` WRITE_TO_FILES, those that are there.
static int allow(int ruleset, const char *path, uint64_t access)
{
    struct stat status;
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0)
        return -errno;
    int result = fstat(parent, &status) < 0 ? -errno : 0;
    struct rule rule = {.allowed_access = access, .parent = parent};
    // A file has no others.
    if (result == 0 && !S_ISDIR(status.st_mode))
        rule.allowed_access &= WRITE_TO_FILES;
    if (result == 0 && syscall(ADD_RULE, ruleset, BENEATH_A_PATH, &rule, 0U) < 0)
        result = -errno;
    close(parent);
    return result;
}

static int allow_all(int ruleset, char *const *paths, int *path)
{
    // As with ProtectSystem=strict of systemd: the permissions of devices decide.
    int error = allow(ruleset, "/dev", WRITE_TO_FILES);
    for (int each = 0; error == 0 && paths[each]; each++) {
        error = allow(ruleset, paths[each], WRITE);
        if (error < 0)
            *path = each;
    }
    if (error == 0 && syscall(RESTRICT_SELF, ruleset, 0U) < 0)
        error = -errno;
    return error;
}

int linux_restrict_writes(char *const *paths, int *path)
{
    if (linux_landlock_version() < LEAST_VERSION)
        return -EOPNOTSUPP;
    struct ruleset handled = {.handled_access_fs = WRITE};
    long ruleset = syscall(CREATE_RULESET, &handled, sizeof handled, 0U);
    if (ruleset < 0)
        return -errno;
    int error = allow_all((int)ruleset, paths, path);
    close((int)ruleset);
    return error;
}
