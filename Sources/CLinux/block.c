#define _DEFAULT_SOURCE
#include "block.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

// Takes room from a block; without one, it only counts what is needed.
struct room {
    char *start;
    size_t used;
};

static void *take(struct room *room, const void *source, size_t size)
{
    const size_t alignment = _Alignof(max_align_t);
    size_t place = (room->used + alignment - 1) & ~(alignment - 1);
    room->used = place + size;
    if (!room->start)
        return NULL;
    if (size > 0)
        memcpy(room->start + place, source, size);
    return room->start + place;
}

static char *take_string(struct room *room, const char *string)
{
    return take(room, string, strlen(string) + 1);
}

static char **take_strings(struct room *room, char *const *strings)
{
    size_t count = 0;
    while (strings[count])
        count++;
    char **copy = take(room, strings, (count + 1) * sizeof *strings);
    for (size_t each = 0; each < count; each++) {
        char *string = take_string(room, strings[each]);
        if (copy)
            copy[each] = string;
    }
    return copy;
}

static struct linux_spawn_request *take_request(struct room *room, const struct linux_spawn_request *request)
{
    struct linux_spawn_request *place = take(room, request, sizeof *request);
    struct linux_spawn_request copy = *request;
    copy.paths = take_strings(room, request->paths);
    copy.arguments = take_strings(room, request->arguments);
    copy.environment = take_strings(room, request->environment);
    copy.working_directory = take_string(room, request->working_directory);
    copy.descriptors = take(room, request->descriptors, request->descriptor_count * sizeof *request->descriptors);
    copy.writable_paths = request->writable_paths ? take_strings(room, request->writable_paths) : NULL;
    copy.groups = take(room, request->groups, request->group_count * sizeof *request->groups);
    if (place)
        *place = copy;
    return place;
}

int linux_copy_request(const struct linux_spawn_request *request, char *room, struct linux_request_block *block)
{
    struct room needed = {0};
    take_request(&needed, request);
    size_t mapped = needed.used <= LINUX_REQUEST_ROOM ? 0 : needed.used;
    if (mapped > 0) {
        room = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
            return -errno;
    }
    struct room taken = {.start = room};
    *block = (struct linux_request_block){.request = take_request(&taken, request), .mapped = mapped};
    return 0;
}

void linux_free_request(struct linux_request_block block)
{
    if (block.mapped > 0)
        munmap(block.request, block.mapped);
}
