// An app in C with a scene: a poll loop, and one line on standard output for each callback of the scene.
//
//     cc main.c $(pkg-config --cflags --libs lifecycle) -o c-scenes
#include <lifecycle.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

static struct lifecycle *app;
static bool is_terminating;

// The number of activations. An app with several scenes has such data for each of them.
static int count;

static void show(const char *callback, const char *scene) {
    static const char *const states[] = {
        [LIFECYCLE_SCENE_UNATTACHED] = "unattached",
        [LIFECYCLE_SCENE_FOREGROUND_INACTIVE] = "foregroundInactive",
        [LIFECYCLE_SCENE_FOREGROUND_ACTIVE] = "foregroundActive",
        [LIFECYCLE_SCENE_BACKGROUND] = "background",
    };
    printf("%s %s %s", callback, scene, states[lifecycle_scene_state(app, scene)]);
}

static void end_line(void) {
    putchar('\n');
    fflush(stdout);
}

static void will_connect(void *context, const struct lifecycle_scene *scene) {
    (void)context;
    count = scene->info ? atoi(scene->info) : 0;
    show("scene-will-connect", scene->id);
    printf(" %s %d", scene->reason, count);
    end_line();
}

static void will_enter_foreground(void *context, const char *scene) {
    (void)context, show("scene-will-enter-foreground", scene), end_line();
}

static void did_become_active(void *context, const char *scene) {
    (void)context, count++, show("scene-did-become-active", scene), end_line();
}

static void will_resign_active(void *context, const char *scene) {
    (void)context, show("scene-will-resign-active", scene), end_line();
}

static void did_enter_background(void *context, const char *scene) {
    (void)context;
    char info[16];
    snprintf(info, sizeof info, "%d", count);
    if (lifecycle_set_scene_info(app, scene, info) < 0) perror("lifecycle_set_scene_info");
    show("scene-did-enter-background", scene);
    end_line();
}

static void did_disconnect(void *context, const char *scene, bool closed) {
    (void)context;
    show("scene-did-disconnect", scene);
    fputs(closed ? " for good" : " for now", stdout);
    end_line();
}

static void will_terminate(void *context) { (void)context, is_terminating = true; }

int main(void) {
    struct lifecycle_callbacks callbacks = {
        .size = sizeof callbacks,
        .will_terminate = will_terminate,
        .scene_will_connect = will_connect,
        .scene_will_enter_foreground = will_enter_foreground,
        .scene_did_become_active = did_become_active,
        .scene_will_resign_active = will_resign_active,
        .scene_did_enter_background = did_enter_background,
        .scene_did_disconnect = did_disconnect,
    };
    app = lifecycle_open(&callbacks, NULL, LIFECYCLE_HANDLE_SIGTERM);
    if (!app) {
        perror("lifecycle_open");
        return 1;
    }
    while (!is_terminating) {
        struct pollfd item = {.fd = lifecycle_fd(app), .events = POLLIN};
        poll(&item, 1, -1);
        lifecycle_dispatch(app);
    }
    lifecycle_close(app);
}
