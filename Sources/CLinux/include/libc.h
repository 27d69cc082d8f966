#ifndef CLINUX_LIBC_H
#define CLINUX_LIBC_H

// The parts of libc that Swift calls itself. Embedded Swift has no Glibc module. Included by CLinux.h.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/// errno, which is a macro that Swift cannot import.
static inline int linux_errno(void) { return errno; }
static inline void linux_clear_errno(void) { errno = 0; }

#endif
