// The moments that are measured, for bench.py: what happens between the first and the last of them is not Python's.

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lap.h"
#include "notes.h"

// For the calling thread: sleeps end when they are to.
void be_punctual(void) { prctl(PR_SET_TIMERSLACK, 1); }

// A process that only spins keeps a processor from those that are waited for.
static void let_others_run(void) { nanosleep(&(struct timespec){.tv_nsec = 5000}, NULL); }

// Sends a request over a blocking socket and waits for the answer, which has this end. Returns its length, 0 when there is none.
size_t ask(
    int socket, const char *request, size_t length, const char *end, size_t end_length, char *reply, size_t capacity,
    struct lap *lap
) {
    lap->began = now();
    if (send(socket, request, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
    size_t received = 0;
    do {
        ssize_t count = recv(socket, reply + received, capacity - received, 0);
        if (count <= 0) return 0;
        received += (size_t)count;
    } while (received < end_length || memcmp(reply + received - end_length, end, end_length) != 0);
    lap->ended = now();
    return received;
}

// Writes a letter to each of some fifos, in order.
bool tell(const int *fifos, const char *letters, size_t count, struct lap *lap) {
    lap->began = now();
    for (size_t each = 0; each < count; each++)
        if (write(fifos[each], letters + each, 1) != 1) return false;
    lap->ended = now();
    return true;
}

// Continues one process and stops another, with no process in between.
void switch_by_kill(int to, int away, struct lap *lap) {
    lap->began = now();
    kill(to, SIGCONT);
    kill(away, SIGSTOP);
    lap->ended = now();
}

// Returns when the process whose /proc/PID/stat this is was seen stopped; 0 if it was not before the deadline.
int64_t until_stopped(int stat, int64_t deadline) {
    int64_t time;
    do {
        char text[512];
        ssize_t length = pread(stat, text, sizeof text - 1, 0);
        time = now();
        if (length <= 0) return 0;
        text[length] = 0;
        const char *rest = strrchr(text, ')');
        if (rest && strncmp(rest, ") T", 3) == 0) return time;
        let_others_run();
    } while (time < deadline);
    return 0;
}

// Returns when the process whose /proc/PID/stat this is had been reaped; 0 if it was not before the deadline.
int64_t until_gone(int stat, int64_t deadline) {
    char text[16];
    int64_t time;
    do {
        ssize_t length = pread(stat, text, sizeof text, 0);
        time = now();
        if (length < 0) return time;
        let_others_run();
    } while (time < deadline);
    return 0;
}

// Returns what an app has noted, once it has; 0 if it has not before the deadline.
int64_t until_noted(const _Atomic int64_t *note, int64_t deadline) {
    int64_t noted;
    while ((noted = *note) == 0 && now() < deadline) let_others_run();
    return noted;
}
