// What the least possible life cycle daemon would cost: it does what it is asked on its standard input, a stream
// socket, with the system calls that none can do without, and keeps nothing. Requests and answers end in a NUL.
//
//   launch PROGRAM NOTES PROCESSES   starts a program in a session of its own; the answer is its pid
//   switch TO AWAY                   continues one app and stops the other, which is seen stopped then
//   suspend PID                      stops an app's process group; every process of it is seen stopped in /proc then
//   resume PID                       continues it
//   listen PROGRAM NOTES             starts a connected app, and tells it that it is active; the answer is its pid
//   focus TO AWAY                    the same as switch for connected apps; the answer comes when TO has been active
//   terminate PID                    SIGTERM; the app is reaped then

#define _GNU_SOURCE  // for POSIX_SPAWN_SETSID
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "told.h"

enum { most_apps = 4096, longest_request = 4096 };

extern char **environ;

// Every launched process, so that none is left behind.
static pid_t apps[most_apps];
static int app_count;

// Starts a program in a session of its own, with the descriptor that is not negative as its number 3.
static pid_t spawn(char *const arguments[], int channel) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (channel >= 0) posix_spawn_file_actions_adddup2(&actions, channel, 3);
    pid_t pid = -1;
    if (app_count == most_apps || posix_spawn(&pid, arguments[0], &actions, &attributes, arguments, environ) != 0)
        exit(1);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    apps[app_count++] = pid;
    return pid;
}

static pid_t launch(char *program, char *notes, char *processes) {
    return spawn((char *[]){program, notes, processes, NULL}, -1);
}

static pid_t launch_listening(char *program, char *notes) {
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) exit(1);
    struct stat status;
    char identity[64];
    if (fstat(channel[1], &status) != 0) exit(1);
    snprintf(identity, sizeof identity, "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    setenv("LIFECYCLE_FD", "3", 1);
    setenv("LIFECYCLE_CHANNEL", identity, 1);
    pid_t pid = spawn((char *[]){program, notes, NULL}, channel[1]);
    unsetenv("LIFECYCLE_FD");
    unsetenv("LIFECYCLE_CHANNEL");
    close(channel[1]);
    tell_launch(pid, channel[0]);
    return pid;
}

static void wait_for(pid_t pid, int what) {
    siginfo_t info;
    if (waitid(P_PID, (id_t)pid, &info, what) != 0) exit(1);
}

static void forget(pid_t pid) {
    for (int each = 0; each < app_count; each++)
        if (apps[each] == pid) apps[each] = apps[--app_count];
}

// True if a process belongs to the group and has not stopped. A process that has ended meanwhile does not.
static bool runs_in_group(const char *pid, pid_t group) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.16s/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) return false;
    text[length] = 0;
    // A name may hold spaces and parentheses: the fields after it begin behind the last one.
    char *rest = strrchr(text, ')');
    char state;
    int parent, found;
    return rest && sscanf(rest + 1, " %c %d %d", &state, &parent, &found) == 3 && found == group && state != 'T';
}

static bool group_runs(pid_t group) {
    DIR *directory = opendir("/proc");
    if (!directory) exit(1);
    bool runs = false;
    struct dirent *entry;
    while (!runs && (entry = readdir(directory)))
        runs = isdigit((unsigned char)entry->d_name[0]) && runs_in_group(entry->d_name, group);
    closedir(directory);
    return runs;
}

// The process that is still to be told that it is in the background, and to be stopped, once the answer is on its way.
static pid_t leaving;

static void finish(void) {
    if (leaving == 0) return;
    tell_background(leaving);
    kill(leaving, SIGSTOP);
    wait_for(leaving, WSTOPPED);
    leaving = 0;
}

// Does what is asked for, and returns the number to answer with.
static long answer(const char *request) {
    char program[1024], notes[1024], processes[16];
    int one, other;
    if (sscanf(request, "launch %1023s %1023s %15s", program, notes, processes) == 3)
        return launch(program, notes, processes);
    if (sscanf(request, "listen %1023s %1023s", program, notes) == 2) return launch_listening(program, notes);
    if (sscanf(request, "focus %d %d", &one, &other) == 2) {
        tell_switch(one, other);
        leaving = other;
    } else if (sscanf(request, "switch %d %d", &one, &other) == 2) {
        kill(one, SIGCONT);
        kill(other, SIGSTOP);
        wait_for(other, WSTOPPED);
    } else if (sscanf(request, "suspend %d", &one) == 1) {
        kill(-one, SIGSTOP);
        while (group_runs(one)) continue;
    } else if (sscanf(request, "resume %d", &one) == 1) {
        kill(-one, SIGCONT);
    } else if (sscanf(request, "terminate %d", &one) == 1) {
        kill(one, SIGTERM);
        kill(one, SIGCONT);
        wait_for(one, WEXITED);
        forget(one);
    } else {
        exit(64);
    }
    return 0;
}

int main(void) {
    char request[longest_request];
    size_t length = 0;
    ssize_t received;
    while ((received = recv(0, request + length, sizeof request - length, 0)) > 0) {
        length += (size_t)received;
        if (request[length - 1] != 0) continue;
        char reply[32];
        int size = snprintf(reply, sizeof reply, "%ld", answer(request));
        send(0, reply, (size_t)size + 1, MSG_NOSIGNAL);
        finish();
        length = 0;
    }
    for (int each = 0; each < app_count; each++) kill(-apps[each], SIGKILL);
    return 0;
}
