// Programs that misbehave in one exact way each, for the tests of Processes: ProcessFixture NAME [PIPE-OF-THE-RUNNER]
// Each prints what the test has to know on one line once it is ready.

#include <stddef.h>
#include <string.h>

#include "programs.h"
#include "support.h"

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"idle", idle},
    {"hide-memory", hide_memory},
    {"busy", busy},
    {"threads", threads},
    {"many-threads", many_threads},
    {"headless", headless},
    {"fork-when-asked", fork_when_asked},
    {"map-file", map_file},
    {"family", family},
    {"thousand", thousand},
    {"bomb", bomb},
    {"waker", waker},
    {"traced", traced},
    {"escape", escape_marked},
    {"escape-clean", escape_clean},
    {"leave-orphan", leave_orphan},
    {"leave-orphan-later", leave_orphan_later},
    {"middle", middle},
    {"multiply", multiply},
    {"chains", chains},
    {"ignore-term", ignore_term},
    {"obey-term", obey_term},
    {"hold-in-vfork", hold_in_vfork},
    {"hold-in-clone", hold_in_clone},
    {"stopped-job", stopped_job},
    {"hostile-name", hostile_name},
    {"neglectful-parent", neglectful_parent},
    {"describe", describe},
    {"spawn-in-sandbox", spawn_in_sandbox},
};

int main(int argc, char **argv)
{
    if (argc > 2)
        live_with_runner(argv[2]);
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    return 0;
}
