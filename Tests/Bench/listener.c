// The connected app that is measured: "listener NOTES". It links the C library, and notes when it began and became active.

#include <lifecycle.h>
#include <poll.h>

#include "notes.h"

static void did_become_active(void *context) { ((struct notes *)context)->active = now(); }

int main(int count, char **arguments) {
    int64_t start = now();
    if (count != 2) return 64;
    struct notes *notes = map_notes(arguments[1]);
    notes->started = start;
    struct lifecycle_callbacks callbacks = {.size = sizeof callbacks, .did_become_active = did_become_active};
    struct lifecycle *life = lifecycle_open(&callbacks, notes, 0);
    if (!life) return 1;
    notes->processes = 1;
    for (;;) {
        struct pollfd item = {.fd = lifecycle_fd(life), .events = POLLIN};
        poll(&item, 1, -1);
        lifecycle_dispatch(life);
    }
}
