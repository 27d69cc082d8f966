#ifndef CLINUX_PROGRAM_H
#define CLINUX_PROGRAM_H

// The command line, the environment and the descriptors of this process. Included by CLinux.h.

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The number of words of the command line, with the name of the program. Embedded Swift has no `CommandLine`.
int linux_argument_count(void);

/// A word of the command line, or null if there are fewer.
const char *linux_argument(int index);

/// The variables of the environment, with a null pointer behind them: environ(7).
char **linux_environment(void);

/// Ignores a signal: SIG_IGN of signal(2).
void linux_ignore_signal(int number);

/// open(2) with O_CREAT: a descriptor, or a negated errno.
int linux_create(const char *path, int flags, mode_t mode);

/// Returns whether the number is that of an open descriptor.
bool linux_is_open(int descriptor);

/// pipe2(2), closed on exec: 0, or a negated errno.
int linux_pipe(int ends[2]);

/// The size of a terminal in characters.
struct linux_terminal_size {
    uint16_t rows;
    uint16_t columns;
};

/// Reads TIOCGWINSZ: zeros if the descriptor is no terminal, or its size is not known.
struct linux_terminal_size linux_terminal_size(int descriptor);

#endif
