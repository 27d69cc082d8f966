// An app in C: a poll loop, and one line on standard output for each callback.
//
//     cc main.c $(pkg-config --cflags --libs lifecycle) -o c-app
#include <lifecycle.h>

#include <poll.h>
#include <stdio.h>

static struct lifecycle *app;
static bool is_terminating;

static void show(const char *callback) {
    static const char *const states[] = {
        [LIFECYCLE_INACTIVE] = "inactive", [LIFECYCLE_ACTIVE] = "active", [LIFECYCLE_BACKGROUND] = "background",
    };
    printf("%s %s\n", callback, states[lifecycle_state(app)]);
    fflush(stdout);
}

static bool will_finish_launching(void *context, const struct lifecycle_launch *launch) {
    (void)context, (void)launch;
    show("will-finish-launching");
    return true;
}

static bool did_finish_launching(void *context, const struct lifecycle_launch *launch) {
    (void)context, (void)launch;
    show("did-finish-launching");
    return true;
}

static void did_become_active(void *context) { (void)context, show("did-become-active"); }
static void will_resign_active(void *context) { (void)context, show("will-resign-active"); }
static void did_enter_background(void *context) { (void)context, show("did-enter-background"); }
static void will_enter_foreground(void *context) { (void)context, show("will-enter-foreground"); }
static void did_receive_memory_warning(void *context) { (void)context, show("memory-warning"); }
static void protected_data_will_become_unavailable(void *context) { (void)context, show("protected-data-will-become-unavailable"); }
static void protected_data_did_become_available(void *context) { (void)context, show("protected-data-did-become-available"); }
static void significant_time_change(void *context) { (void)context, show("significant-time-change"); }

static bool open_url(void *context, const struct lifecycle_url *url) {
    (void)context;
    printf("open-url %s\n", url->url);
    fflush(stdout);
    return true;
}

static bool continue_activity(void *context, const char *type, const char *info) {
    (void)context;
    printf("continue-activity %s %s\n", type, info);
    fflush(stdout);
    return true;
}

static void perform_work(void *context, int64_t work, const char *kind, const char *payload) {
    (void)context;
    printf("perform-task %s %s\n", kind, payload);
    fflush(stdout);
    lifecycle_complete_work(app, work, LIFECYCLE_WORK_NEW_DATA);
}

static void will_terminate(void *context) { (void)context, show("will-terminate"), is_terminating = true; }

int main(void) {
    struct lifecycle_callbacks callbacks = {
        .size = sizeof callbacks,
        .will_finish_launching = will_finish_launching,
        .did_finish_launching = did_finish_launching,
        .did_become_active = did_become_active,
        .will_resign_active = will_resign_active,
        .did_enter_background = did_enter_background,
        .will_enter_foreground = will_enter_foreground,
        .will_terminate = will_terminate,
        .open_url = open_url,
        .continue_activity = continue_activity,
        .perform_work = perform_work,
        .did_receive_memory_warning = did_receive_memory_warning,
        .protected_data_will_become_unavailable = protected_data_will_become_unavailable,
        .protected_data_did_become_available = protected_data_did_become_available,
        .significant_time_change = significant_time_change,
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
