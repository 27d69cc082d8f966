#include "told.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { most_apps = 64 };

static struct told {
    pid_t pid;
    int channel;
    unsigned sequence;
} apps[most_apps];
static int app_count;

static struct told *find(pid_t pid) {
    for (int each = 0; each < app_count; each++)
        if (apps[each].pid == pid) return apps + each;
    exit(1);
}

static void say(struct told *app, const char *line) {
    if (send(app->channel, line, strlen(line), MSG_NOSIGNAL) < 0) exit(1);
}

// An app says one line at a time here: hello, and that it is done.
static void hear(struct told *app) {
    char line[1024];
    size_t length = 0;
    do {
        ssize_t count = recv(app->channel, line + length, sizeof line - length, 0);
        if (count <= 0) exit(1);
        length += (size_t)count;
    } while (line[length - 1] != '\n');
}

static void tell(struct told *app, const char *callback, const char *state) {
    char line[256];
    snprintf(line, sizeof line, "%s seq=%u deadline-ms=5000 state=%s\n", callback, ++app->sequence, state);
    say(app, line);
}

void tell_launch(pid_t pid, int channel) {
    if (app_count == most_apps) exit(1);
    apps[app_count++] = (struct told){.pid = pid, .channel = channel};
    struct told *app = find(pid);
    hear(app);
    say(app, "welcome protocol=1 app-id=baseline\n");
    tell(app, "will-finish-launching", "inactive");
    hear(app);
    tell(app, "did-finish-launching", "inactive");
    hear(app);
    tell(app, "did-become-active", "active");
    hear(app);
}

void tell_switch(pid_t to, pid_t away) {
    struct told *coming = find(to), *leaving = find(away);
    kill(to, SIGCONT);
    tell(leaving, "will-resign-active", "active");
    tell(coming, "will-enter-foreground", "background");
    hear(leaving);
    hear(coming);
    tell(coming, "did-become-active", "active");
    hear(coming);
}

void tell_background(pid_t away) {
    struct told *app = find(away);
    tell(app, "did-enter-background", "background");
    hear(app);
}
