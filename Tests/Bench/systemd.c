// A client of systemd over its private socket, by its own library, with no process between the two. Each request is made
// before the clock starts.

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "lap.h"
#include "notes.h"

struct manager {
    sd_bus *bus;
    // The number of answers that have not come yet.
    int unanswered;
    // The unit whose job has not ended yet, if that is waited for.
    const char *unit;
    bool failed;
};

static const char path[] = "/org/freedesktop/systemd1";
static const char name[] = "org.freedesktop.systemd1";
static const char interface[] = "org.freedesktop.systemd1.Manager";

static int hear_answer(sd_bus_message *answer, void *context, sd_bus_error *error) {
    (void)error;
    struct manager *manager = context;
    manager->unanswered--;
    const sd_bus_error *refusal = sd_bus_message_get_error(answer);
    if (refusal) {
        fprintf(stderr, "systemd: %s\n", refusal->message);
        manager->failed = true;
    }
    return 1;
}

// A client with a private connection is told of every job, whether it has asked for that or not.
static int hear_end(sd_bus_message *signal, void *context, sd_bus_error *error) {
    (void)error;
    struct manager *manager = context;
    const char *unit, *result;
    if (sd_bus_message_read(signal, "uoss", NULL, NULL, &unit, &result) < 0) return 0;
    if (!manager->unit || strcmp(unit, manager->unit) != 0) return 0;
    if (strcmp(result, "done") != 0) {
        fprintf(stderr, "systemd: the job of %s: %s\n", unit, result);
        manager->failed = true;
    }
    manager->unit = NULL;
    return 0;
}

// Connects to the service manager, or returns NULL. The connection lasts as long as the process.
struct manager *connect_manager(const char *address) {
    struct manager *manager = calloc(1, sizeof *manager);
    if (manager && sd_bus_new(&manager->bus) >= 0 && sd_bus_set_address(manager->bus, address) >= 0 &&
        sd_bus_start(manager->bus) >= 0 &&
        sd_bus_match_signal(manager->bus, NULL, NULL, path, interface, "JobRemoved", hear_end, manager) >= 0)
        return manager;
    return NULL;
}

// Waits until every answer has come, and the job has ended that is waited for.
static bool settle(struct manager *manager) {
    while (!manager->failed && (manager->unanswered > 0 || manager->unit)) {
        int progress = sd_bus_process(manager->bus, NULL);
        if (progress == 0) progress = sd_bus_wait(manager->bus, UINT64_MAX);
        if (progress < 0) return false;
    }
    bool succeeded = !manager->failed;
    manager->failed = false;
    return succeeded;
}

static bool send_request(struct manager *manager, sd_bus_message *request) {
    manager->unanswered++;
    return sd_bus_call_async(manager->bus, NULL, request, hear_answer, manager, 0) >= 0;
}

static sd_bus_message *new_request(struct manager *manager, const char *method) {
    sd_bus_message *request = NULL;
    if (sd_bus_message_new_method_call(manager->bus, &request, name, path, interface, method) < 0) exit(1);
    return request;
}

static sd_bus_message *new_kill(struct manager *manager, const char *unit, int number) {
    sd_bus_message *request = new_request(manager, "KillUnit");
    if (sd_bus_message_append(request, "ssi", unit, "main", number) < 0) exit(1);
    return request;
}

// Continues the main process of one unit and stops that of another; neither request waits for the other's answer.
bool switch_units(struct manager *manager, const char *to, const char *away, struct lap *lap) {
    sd_bus_message *one = new_kill(manager, to, SIGCONT), *other = new_kill(manager, away, SIGSTOP);
    lap->began = now();
    bool done = send_request(manager, one) && send_request(manager, other) && settle(manager);
    lap->ended = now();
    sd_bus_message_unref(one);
    sd_bus_message_unref(other);
    return done;
}

// Has a unit started or stopped, by the method of that name, and waits until the job has ended.
bool run_job(struct manager *manager, const char *method, const char *unit, struct lap *lap) {
    sd_bus_message *request = new_request(manager, method);
    if (sd_bus_message_append(request, "ss", unit, "replace") < 0) exit(1);
    manager->unit = unit;
    lap->began = now();
    bool done = send_request(manager, request) && settle(manager);
    lap->ended = now();
    sd_bus_message_unref(request);
    return done;
}

// Has the unit files read anew.
bool reload_units(struct manager *manager) {
    sd_bus_message *request = new_request(manager, "Reload");
    bool done = send_request(manager, request) && settle(manager);
    sd_bus_message_unref(request);
    return done;
}
