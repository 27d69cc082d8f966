#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int argument_count;
static char **argument_words;

// glibc passes the command line to the functions that run before main().
__attribute__((constructor)) static void keep_arguments(int count, char **words)
{
    argument_count = count;
    argument_words = words;
}

int linux_argument_count(void)
{
    return argument_count;
}

const char *linux_argument(int index)
{
    return index >= 0 && index < argument_count ? argument_words[index] : NULL;
}

char **linux_environment(void)
{
    return environ;
}

void linux_ignore_signal(int number)
{
    signal(number, SIG_IGN);
}

int linux_create(const char *path, int flags, mode_t mode)
{
    int descriptor = open(path, flags | O_CREAT, mode);
    return descriptor < 0 ? -errno : descriptor;
}

bool linux_is_open(int descriptor)
{
    return fcntl(descriptor, F_GETFD) >= 0;
}

int linux_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : -errno;
}

struct linux_terminal_size linux_terminal_size(int descriptor)
{
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0)
        return (struct linux_terminal_size){0, 0};
    return (struct linux_terminal_size){size.ws_row, size.ws_col};
}
