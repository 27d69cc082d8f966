#ifndef PROCESS_FIXTURE_SUPPORT_H
#define PROCESS_FIXTURE_SUPPORT_H

// What all of the programs use.

// The pipe of which the test runner holds the writing end; null where this is not one of its programs.
extern const char *runner_path;

// Has this process and its group end with the test runner, and so every child of it.
void live_with_runner(const char *path);

void close_runner_pipe(void);

void begin_session(void);

// Prints a word and the number of this process.
void report(const char *text);

void wait_for_ever(void);

// Uses the processor for ever; for threads also.
void *spin(void *unused);

// Children that wait for ever.
void fork_children(int count);

#endif
