/*
 * lifecycle.h: the application life cycle for a Linux program.
 *
 * A device has one app in front and the others asleep behind it. lifed decides which, and this library tells the app:
 * that it was launched, that it is in front, that it is about to leave, that it has a few seconds before it is put to
 * sleep, that it has to end. The app says which of these it cares about by filling in a struct of functions.
 *
 *     static void save(void *context) { ... }
 *
 *     int main(void) {
 *         struct lifecycle_callbacks callbacks = { .size = sizeof callbacks, .did_enter_background = save };
 *         struct lifecycle *app = lifecycle_open(&callbacks, NULL, 0);
 *         if (!app) { perror("lifecycle_open"); return 1; }
 *         for (;;) {
 *             struct pollfd item = { .fd = lifecycle_fd(app), .events = POLLIN };
 *             poll(&item, 1, -1);
 *             lifecycle_dispatch(app);
 *         }
 *     }
 *
 * Link with "pkg-config --cflags --libs lifecycle". The library needs libc and nothing else. It starts no thread, does
 * nothing before lifecycle_open(), and no function of it waits but lifecycle_save_state().
 *
 * Threads: all functions are for one thread, the one that opened the life cycle. Callbacks are called on that thread,
 * from within lifecycle_dispatch() and from nowhere else. They may call every function here.
 *
 * Processes: the life cycle is that of the process that opened it. In a child that was forked and has not executed a
 * program, nothing here does anything; lifecycle_close() frees what is its own.
 *
 * A program that was not launched by lifed is told the same as one that is launched to the front and stays there. With
 * LIFECYCLE_VERBOSE in the environment it says so once on standard error.
 */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The life cycle of this process. There is at most one. */
struct lifecycle;

/* Where an app is, as far as it can see. While it is suspended it does not run, and so never sees that. */
enum lifecycle_state {
    LIFECYCLE_INACTIVE = 0,   /* in front and not in use: being launched, interrupted, or about to leave */
    LIFECYCLE_ACTIVE = 1,     /* in front and in use */
    LIFECYCLE_BACKGROUND = 2, /* out of sight, and about to be suspended */
};

/* Why an app was launched. The strings are valid until the callback returns. */
struct lifecycle_launch {
    const char *reason;          /* "launch", "home" and the like; never NULL */
    bool restore;                /* the system and not a person ended it the last time: show what was there */
    const char *previous_state;  /* the state that it was in when it ended the last time, or NULL when not known */
    const char *previous_reason; /* why it ended the last time, or NULL when not known */
    int64_t previous_time;       /* when it ended the last time, in seconds since the epoch, or -1 when not known */
    const char *url;             /* what it was launched to open, or NULL; open_url gets it too, later */
};

/* What an app is to open. The strings are valid until the callback returns. */
struct lifecycle_url {
    const char *url;    /* never NULL */
    const char *type;   /* its MIME type, or NULL when not known */
    const char *source; /* the id of the app that asks for it, or NULL when it is none */
};

/*
 * A scene that is being connected: a window, as a rule, of an app whose manifest says scenes = true. Scenes come to the
 * front and leave it independently of one another. The strings are valid until the callback returns.
 */
struct lifecycle_scene {
    const char *id;     /* tells it from the app's other scenes, across launches; never NULL */
    const char *role;   /* what it is for, "window" unless somebody said otherwise; never NULL */
    const char *reason; /* who wants it: "person", "system", "app", or "restoration" of what was there; never NULL */
    const char *info;   /* what it is to show, as lifecycle_set_scene_info() or whoever opened it said, or NULL */
};

/* Where a scene is, as far as its app can see. */
enum lifecycle_scene_state {
    LIFECYCLE_SCENE_UNATTACHED = 0,          /* not connected yet, or not any more */
    LIFECYCLE_SCENE_FOREGROUND_INACTIVE = 1, /* in front and not in use */
    LIFECYCLE_SCENE_FOREGROUND_ACTIVE = 2,   /* in front and in use */
    LIFECYCLE_SCENE_BACKGROUND = 3,          /* out of sight */
};

/* What became of work out of sight. */
enum lifecycle_work_result {
    LIFECYCLE_WORK_NEW_DATA = 0, /* there is something new */
    LIFECYCLE_WORK_NO_DATA = 1,  /* there is nothing new */
    LIFECYCLE_WORK_FAILED = 2,   /* it could not be done */
};

/*
 * What an app wants to hear. Any function may be NULL. Each gets the context that was given to lifecycle_open().
 *
 * lifed waits for a function to return before it goes on, for a time: about 1 s for will_resign_active, then the other
 * app comes to the front all the same; 5 s for did_enter_background, then this app is killed. What takes longer than
 * that asks for time with lifecycle_begin_task() and goes on elsewhere.
 */
struct lifecycle_callbacks {
    /* sizeof(struct lifecycle_callbacks), so that a later library knows which functions a program can have. */
    size_t size;

    /* The first of all, before anything is shown. Both return whether the app can open what it was launched for;
       true when it was launched for nothing in particular. State: inactive. */
    bool (*will_finish_launching)(void *context, const struct lifecycle_launch *launch);
    /* Launching is done but for coming to the front. State: inactive, or background when launched out of sight. */
    bool (*did_finish_launching)(void *context, const struct lifecycle_launch *launch);
    /* In front and in use from now on: start what was paused. State: active. */
    void (*did_become_active)(void *context);
    /* About to stop being in use, for an interruption or for good: pause. State: active, inactive when it returns. */
    void (*will_resign_active)(void *context);
    /* Out of sight: save, close what others may want, shrink. The app is suspended afterwards, and may be killed while
       it is suspended, without notice of either. State: background. */
    void (*did_enter_background)(void *context);
    /* About to come to the front: undo the former. State: background, inactive when it returns. */
    void (*will_enter_foreground)(void *context);
    /* SIGTERM came, from lifed or from anybody: put things in order, within 5 s. Called once, and nothing is called
       after it: when it returns, the library calls exit(0). */
    void (*will_terminate)(void *context);

    /* The time of a task is up: stop the work and call lifecycle_end_task() within 5 s, or the app is killed. */
    void (*task_expired)(void *context, int64_t task);
    /* A task or an activity was refused and does not keep the app from being suspended. It is over and not to be ended.
       The reason is a word: "too-many-tasks", "mode-not-declared", "time-is-up"; valid until the callback returns. */
    void (*refused)(void *context, int64_t id, const char *reason);

    /* There is something to open; comes after the launch or after will_enter_foreground, and before did_become_active.
       Returns whether the app opens it; whoever asked for it is told when it does not. */
    bool (*open_url)(void *context, const struct lifecycle_url *url);
    /* A person goes on here with what was begun elsewhere: its kind, in reverse-domain notation, and a JSON text that may
       be empty, both valid until the callback returns. Returns whether the app takes it up. */
    bool (*continue_activity)(void *context, const char *type, const char *info);
    /* There is work to do out of sight: a kind, such as "fetch", and what there is to know, both valid until the callback
       returns. The app says within 30 s, with lifecycle_complete_work(), then or later, what became of it. */
    void (*perform_work)(void *context, int64_t work, const char *kind, const char *payload);
    /* Memory is running short: give back what can be had again. */
    void (*did_receive_memory_warning)(void *context);
    /* The session is about to be locked: put away what is for its owner's eyes only. */
    void (*protected_data_will_become_unavailable)(void *context);
    /* The session was unlocked. */
    void (*protected_data_did_become_available)(void *context);
    /* The clock was set, the time zone is another one, or a day has begun. */
    void (*significant_time_change)(void *context);

    /*
     * In an app with scenes these are called instead of did_become_active, will_resign_active, did_enter_background and
     * will_enter_foreground, for each scene. `scene` is its id, valid until the callback returns. The times are the same.
     */
    /* The scene is there: make what is to be seen of it. State: unattached, background when it returns. */
    void (*scene_will_connect)(void *context, const struct lifecycle_scene *scene);
    /* About to come to the front, for the first time too. State: background, foreground inactive when it returns. */
    void (*scene_will_enter_foreground)(void *context, const char *scene);
    /* In front and in use from now on. State: foreground active. */
    void (*scene_did_become_active)(void *context, const char *scene);
    /* About to stop being in use. State: foreground active, foreground inactive when it returns. */
    void (*scene_will_resign_active)(void *context, const char *scene);
    /* Out of sight. When all scenes are, the app is suspended afterwards, without notice. State: background. */
    void (*scene_did_enter_background)(void *context, const char *scene);
    /* The scene is gone: let go what belongs to it. `closed` says that it is for good; otherwise its memory was needed, or
       the app is about to end, and it may be connected again. State: unattached. */
    void (*scene_did_disconnect)(void *context, const char *scene, bool closed);
};

/* For lifecycle_open(): the program deals with SIGTERM by itself, and will_terminate is never called. */
#define LIFECYCLE_LEAVE_SIGTERM 1u

/*
 * Takes up the life cycle of this process. Copies the callbacks. Calls none of them: the first come with
 * lifecycle_dispatch().
 *
 * Installs a handler for SIGTERM, unless told to leave it; programs that the app starts do not inherit it. Takes
 * LIFECYCLE_FD and LIFECYCLE_SOCKET out of the environment, and closes the descriptor that the former names on execve, so
 * that programs that the app starts do not take themselves for the app.
 *
 * Returns NULL and sets errno: EINVAL when callbacks is NULL, its size is too small or a flag is not known; EBUSY when
 * the life cycle is open already, whatever the flags; EMFILE, ENFILE or ENOMEM when the system has no descriptors left.
 * The environment and the descriptor are as they were then, so that it can be tried again.
 */
struct lifecycle *lifecycle_open(const struct lifecycle_callbacks *callbacks, void *context, unsigned flags);

/* Gives it up: no callback is called any more, and SIGTERM does what it did before. NULL is left alone. */
void lifecycle_close(struct lifecycle *app);

/*
 * A descriptor to poll for POLLIN, in any loop: poll, epoll, GLib's g_unix_fd_add, Qt's QSocketNotifier, libuv's uv_poll.
 * It stays the same. Do not read it and do not close it.
 */
int lifecycle_fd(const struct lifecycle *app);

/*
 * Calls the callbacks that are due, if any. Call it when lifecycle_fd() is readable; calling it more often does no harm.
 * A call from within a callback does nothing. Does not return after will_terminate.
 *
 * When lifed dies and is started again, this finds it again, and goes on where it was. Meanwhile the app stays as it is,
 * and what it asks for waits; lifecycle_fd() is readable now and then, every 4 s in the long run.
 */
void lifecycle_dispatch(struct lifecycle *app);

/* The state that the app is in. */
enum lifecycle_state lifecycle_state(const struct lifecycle *app);

/* Whether lifed decides over the app; false when it was not launched by lifed, or lifed has let go of it. */
bool lifecycle_is_managed(const struct lifecycle *app);

/*
 * Asks for time to finish something out of sight: up to 30 s for all tasks together, counted from did_enter_background.
 * The name is for the person who looks at what keeps the app awake; the first 128 bytes count, NULL is "task". Ask before the work
 * starts, in front or in did_enter_background. Returns a number above 0 for lifecycle_end_task(), task_expired and
 * refused.
 */
int64_t lifecycle_begin_task(struct lifecycle *app, const char *name);

/* The task is done. One that is not there, or has ended, is left alone. */
void lifecycle_end_task(struct lifecycle *app, int64_t task);

/* The milliseconds left of the time in the background, or -1 when nothing limits it at present. What lifed said last; lifed is
   asked again, so that a later call finds what has changed meanwhile. */
int64_t lifecycle_background_time_remaining(const struct lifecycle *app);

/*
 * Says that something goes on out of sight for as long as it lasts: "audio", "location" and the like, as declared in the
 * app's manifest with backgroundModes; others are refused. Returns a number above 0 for lifecycle_end_activity() and
 * refused.
 */
int64_t lifecycle_begin_activity(struct lifecycle *app, const char *mode);

/* The activity is over. One that is not there, or has ended, is left alone. */
void lifecycle_end_activity(struct lifecycle *app, int64_t activity);

/* Says what became of the work that perform_work was called for. A number that is not that of any is left alone. */
void lifecycle_complete_work(struct lifecycle *app, int64_t work, enum lifecycle_work_result result);

/* The most bytes that the info of a scene has. */
#define LIFECYCLE_SCENE_INFO_LIMIT ((size_t)4096)

/*
 * Asks for a scene: the one with this id, or a new one when there is none or `scene` is NULL; lifed names it then. It comes
 * to the front when the app is there, and is out of sight otherwise. A role (NULL is "window") and an info (may be NULL)
 * are for a new scene. What comes of it comes with the callbacks. Returns 0, or -1 and sets errno: EINVAL when the id or the role is not of 1 to 64 letters, digits, dots,
 * underscores and hyphens; EFBIG for more info than LIFECYCLE_SCENE_INFO_LIMIT; EAGAIN when too much waits for lifed.
 */
int lifecycle_open_scene(struct lifecycle *app, const char *scene, const char *role, const char *info);

/* Asks to be rid of a scene, for good. scene_did_disconnect follows. One that is not there is left alone. */
void lifecycle_close_scene(struct lifecycle *app, const char *scene);

/*
 * Says what a scene shows, in words of the app's own, JSON by custom; NULL for nothing. lifed keeps it, and the app gets it
 * back with the scene when that is connected again, in this process or a later one. Returns 0, or -1 and sets errno:
 * ENOENT when there is no such scene; EFBIG for more than LIFECYCLE_SCENE_INFO_LIMIT; EAGAIN when too much waits for lifed.
 */
int lifecycle_set_scene_info(struct lifecycle *app, const char *scene, const char *info);

/* The state that a scene is in; unattached when there is no such scene. */
enum lifecycle_scene_state lifecycle_scene_state(const struct lifecycle *app, const char *scene);

/* The most bytes that lifecycle_save_state() keeps. */
#define LIFECYCLE_STATE_LIMIT ((size_t)1 << 20)

/*
 * Keeps what the app wants to have back when the system ends it, in place of what was kept before: whatever happens, the
 * one or the other is there afterwards, whole. In LIFECYCLE_STATE_DIR; the right time is did_enter_background. Waits for
 * the disk, unlike all else here. Not for several processes of an app at the same time. Returns 0, or -1 and sets errno:
 * EFBIG for more than LIFECYCLE_STATE_LIMIT bytes, ENOENT when there is no such directory, ENOSPC and the like.
 */
int lifecycle_save_state(struct lifecycle *app, const void *state, size_t size);

/*
 * What was kept the last time; to be asked for when a launch has `restore` set. Writes it to `state` when it fits the
 * capacity, and nothing otherwise. Returns how many bytes it is, or -1 and sets errno: ENOENT when nothing was kept,
 * EBADMSG when what is there is damaged.
 */
int64_t lifecycle_load_state(struct lifecycle *app, void *state, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
