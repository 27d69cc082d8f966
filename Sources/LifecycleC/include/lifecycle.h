/*
 * lifecycle.h: the application life cycle for a Linux program.
 *
 * lifed keeps one app in the foreground and suspends the apps in the background. This library tells a program what
 * happens to it: launch, activation, background, termination. The program sets the functions that it needs:
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
 * Link with "pkg-config --cflags --libs lifecycle". The library needs libc and nothing else. Each function has a manual
 * page in section 3; lifecycle-protocol(7) describes what is sent.
 *
 * Process: the library starts no thread, never exits, and does nothing before lifecycle_open(). It installs a signal
 * handler or changes the environment only if lifecycle_open() is asked to. No function waits, except
 * lifecycle_save_state() and lifecycle_load_state(), which wait for the disk.
 *
 * Threads: one thread at a time may use the library: the thread that called lifecycle_open(). Callbacks are called on
 * this thread, from within lifecycle_dispatch() only. A callback may call every function, lifecycle_close() included.
 *
 * fork(2): the life cycle belongs to the process that opened it. In a forked child that has not executed a program, the
 * functions do nothing, and lifecycle_close() frees the child's copy.
 *
 * Ownership: the library copies every argument before a function returns. Strings that a callback receives are valid
 * until the callback returns. The handle is the caller's until lifecycle_close().
 *
 * Errors: a function that can fail returns NULL or -1 and sets errno. For a NULL handle this is EINVAL; a function
 * without an error value does nothing then. Strings are UTF-8.
 *
 * A program that lifed did not launch connects to the socket of lifed by itself. Until lifed adopts it, it gets the callbacks of an
 * app that is launched to the foreground and stays there.
 * With LIFECYCLE_VERBOSE in the environment, lifecycle_open() notes that on standard error.
 */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header. The soname changes with an incompatible change, and so does the major version from 1.0 on. */
#define LIFECYCLE_VERSION_MAJOR 0
#define LIFECYCLE_VERSION_MINOR 1
#define LIFECYCLE_VERSION_PATCH 0
#define LIFECYCLE_VERSION "0.1.0"

/* Versions as numbers, to compare in #if: LIFECYCLE_VERSION_NUMBER >= LIFECYCLE_MAKE_VERSION(0, 2, 0). */
#define LIFECYCLE_MAKE_VERSION(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define LIFECYCLE_VERSION_NUMBER \
    LIFECYCLE_MAKE_VERSION(LIFECYCLE_VERSION_MAJOR, LIFECYCLE_VERSION_MINOR, LIFECYCLE_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The life cycle of this process. A process has at most one. */
struct lifecycle;

/* The states of an app that it can see: while it is suspended, it does not run. */
enum lifecycle_state {
    LIFECYCLE_INACTIVE = 0,   /* in the foreground, without input: during launch, an interruption or a change */
    LIFECYCLE_ACTIVE = 1,     /* in the foreground and in use */
    LIFECYCLE_BACKGROUND = 2, /* in the background, before the suspension */
};

/* The reason of a launch, and the previous end of the app. */
struct lifecycle_launch {
    const char *reason;          /* "launch", "home", ...: see lifecycle-protocol(7); never NULL */
    bool restore;                /* the system ended the app, not the user: restore the state */
    const char *previous_state;  /* the state in which the app ended, or NULL if not known */
    const char *previous_reason; /* the reason of the previous end, or NULL if not known */
    int64_t previous_time;       /* the time of the previous end in seconds since the epoch, or -1 if not known */
    const char *url;             /* the URL that the app was launched to open, or NULL; open_url follows, unless it is an
                                    argument of the command */
    bool restore_failed;         /* the app failed soon after it restored its state, which lifed has set aside */
};

/* A URL to open. */
struct lifecycle_url {
    const char *url;    /* never NULL */
    const char *type;   /* the MIME type, or NULL if not known */
    const char *source; /* the id of the app that sends the URL, or NULL if the sender is not an app */
};

/* A scene that is about to be connected: a window, usually, of an app whose manifest has scenes = true. */
struct lifecycle_scene {
    const char *id;     /* unique within the app and the same across launches; never NULL */
    const char *role;   /* the purpose of the scene, "window" by default; never NULL */
    const char *reason; /* "user", "system", "app" or "restoration"; never NULL */
    const char *info;   /* the content, as set by lifecycle_set_scene_info() or the opener, or NULL */
};

/* The states of a scene that its app can see. */
enum lifecycle_scene_state {
    LIFECYCLE_SCENE_UNATTACHED = 0,          /* not connected */
    LIFECYCLE_SCENE_FOREGROUND_INACTIVE = 1, /* in the foreground, without input */
    LIFECYCLE_SCENE_FOREGROUND_ACTIVE = 2,   /* in the foreground and in use */
    LIFECYCLE_SCENE_BACKGROUND = 3,          /* in the background */
};

/* The result of background work. */
enum lifecycle_work_result {
    LIFECYCLE_WORK_NEW_DATA = 0, /* there is new data */
    LIFECYCLE_WORK_NO_DATA = 1,  /* there is no new data */
    LIFECYCLE_WORK_FAILED = 2,   /* the work failed */
};

/*
 * The callbacks of an app. Each may be NULL, and receives the context of lifecycle_open().
 *
 * lifed waits for a callback to return, for a limited time: 1 s for will_resign_active, after which lifed continues
 * without the answer; 5 s for did_enter_background, after which lifed kills the app. For longer work, the app begins a
 * task with lifecycle_begin_task() and returns.
 */
struct lifecycle_callbacks {
    /* sizeof(struct lifecycle_callbacks). A later library has more functions, and so learns which this program has. */
    size_t size;

    /* The process runs; the first callback. State: inactive. Returns false if the app cannot open the URL that it was
       launched for, true otherwise. */
    bool (*will_finish_launching)(void *context, const struct lifecycle_launch *launch);
    /* The launch is almost complete. State: inactive, or background for a launch in the background. Returns as above. */
    bool (*did_finish_launching)(void *context, const struct lifecycle_launch *launch);
    /* The app is in use: start what was paused. State: active. */
    void (*did_become_active)(void *context);
    /* The app is about to become inactive: pause. State: active, and inactive on return. */
    void (*will_resign_active)(void *context);
    /* The app is in the background: save, and release shared resources. lifed suspends the app afterwards unless it has a
       task or an activity, and may kill a suspended app. No callback announces either. State: background. */
    void (*did_enter_background)(void *context);
    /* The app is about to enter the foreground. State: background, and inactive on return. */
    void (*will_enter_foreground)(void *context);
    /* SIGTERM came, with LIFECYCLE_HANDLE_SIGTERM: save, and leave the main loop within 5 s. The last callback. SIGTERM
       has its former handling when it returns, and the program continues. */
    void (*will_terminate)(void *context);

    /* The time of a task expired: stop the work and call lifecycle_end_task() within 5 s, otherwise lifed kills the app. */
    void (*task_expired)(void *context, int64_t task);
    /* lifed refused a task or an activity, which has ended then. The reason is a word: "too-many-tasks",
       "mode-not-declared", "time-is-up". */
    void (*refused)(void *context, int64_t id, const char *reason);

    /* The app receives a URL, after the launch or will_enter_foreground and before did_become_active. Returns whether the
       app opens it. */
    bool (*open_url)(void *context, const struct lifecycle_url *url);
    /* The app receives an activity that began elsewhere: its type in reverse-domain notation, and a JSON text that may be
       empty. Returns whether the app continues it. */
    bool (*continue_activity)(void *context, const char *type, const char *info);
    /* The app receives background work: a kind, such as "fetch", and a payload that may be empty. The app calls
       lifecycle_complete_work() within 30 s, during the callback or later. */
    void (*perform_work)(void *context, int64_t work, const char *kind, const char *payload);
    /* Memory is short: release what can be loaded again. */
    void (*did_receive_memory_warning)(void *context);
    /* The session is about to be locked: hide private content. */
    void (*protected_data_will_become_unavailable)(void *context);
    /* The session was unlocked. */
    void (*protected_data_did_become_available)(void *context);
    /* The clock was set, the time zone changed, or a day began. */
    void (*significant_time_change)(void *context);

    /*
     * In an app with scenes, these replace did_become_active, will_resign_active, did_enter_background and
     * will_enter_foreground, for each scene. `scene` is the id. The time limits are the same.
     */
    /* The scene is connected: create its window. State: unattached, and background on return. */
    void (*scene_will_connect)(void *context, const struct lifecycle_scene *scene);
    /* The scene is about to enter the foreground. State: background, and foreground inactive on return. */
    void (*scene_will_enter_foreground)(void *context, const char *scene);
    /* The scene is in use. State: foreground active. */
    void (*scene_did_become_active)(void *context, const char *scene);
    /* The scene is about to become inactive. State: foreground active, and foreground inactive on return. */
    void (*scene_will_resign_active)(void *context, const char *scene);
    /* The scene is in the background. lifed suspends the app when all its scenes are. State: background. */
    void (*scene_did_enter_background)(void *context, const char *scene);
    /* The scene is disconnected: destroy its window. `closed` is false if the scene may be connected again; if it is closed
       instead, a second call says so. State: unattached. */
    void (*scene_did_disconnect)(void *context, const char *scene, bool closed);
};

/* For lifecycle_open(): install a handler for SIGTERM, which leads to will_terminate. Child processes do not inherit it. */
#define LIFECYCLE_HANDLE_SIGTERM 1u
/* For lifecycle_open(): remove LIFECYCLE_FD, LIFECYCLE_CHANNEL, LIFECYCLE_SOCKET and LIFECYCLE_STATE_DIR from the
   environment, for a program that starts other programs which use the library. lifecycle_save_state() still uses the
   directory. As for unsetenv(3), no other thread may use the environment at that time. */
#define LIFECYCLE_UNSET_ENVIRONMENT 2u

/*
 * Opens the life cycle of this process. Calls no callback: the first come with lifecycle_dispatch(). The library owns the
 * descriptor that LIFECYCLE_FD names from then on, and sets its FD_CLOEXEC. It leaves the descriptor alone if this is not the
 * socket that LIFECYCLE_CHANNEL identifies, or belongs to another process that lives. It closes the descriptor alone if lifed
 * does not manage this process. Such a process has no channel, and no directory for its state.
 *
 * Returns a handle for lifecycle_close(), or NULL with errno and without a change: EINVAL if callbacks is NULL, its size
 * is too small or a flag is unknown; EBUSY if the life cycle is open; EMFILE, ENFILE or ENOMEM if the system has no
 * descriptors left.
 */
struct lifecycle *lifecycle_open(const struct lifecycle_callbacks *callbacks, void *context, unsigned flags);

/* Closes the life cycle and frees the handle: no callback follows, and SIGTERM has its former handling. Ignores NULL. */
void lifecycle_close(struct lifecycle *app);

/*
 * Returns a descriptor to poll for POLLIN, in any event loop, or -1 with errno. It belongs to the library and stays the
 * same until lifecycle_close(): do not read or close it.
 */
int lifecycle_fd(const struct lifecycle *app);

/*
 * Calls the callbacks that are due. Call it when lifecycle_fd() is readable; an additional call is harmless. A call from a
 * callback does nothing.
 *
 * After a restart of lifed, this function connects again. Meanwhile the state stays as it is, and requests wait.
 */
void lifecycle_dispatch(struct lifecycle *app);

/* Returns the state of the app. */
enum lifecycle_state lifecycle_state(const struct lifecycle *app);

/* Returns whether lifed manages the app: lifed launched or adopted it, and has not released it. If lifed did not launch the
   app, false until the answer of lifed. */
bool lifecycle_is_managed(const struct lifecycle *app);

/*
 * Begins a background task: up to 30 s for all tasks together, counted from did_enter_background. The time rests while the app
 * is visible, has an activity, or is kept running by its manifest or its user. Call it before the work starts, in the
 * foreground or in did_enter_background. The name is for users; its first 128 bytes count, NULL is "task".
 *
 * Returns a number above 0 for lifecycle_end_task(), task_expired and refused, or -1 with errno.
 */
int64_t lifecycle_begin_task(struct lifecycle *app, const char *name);

/* Ends a task. Ignores a task that has ended. */
void lifecycle_end_task(struct lifecycle *app, int64_t task);

/*
 * Returns the milliseconds that the app may still run in the background, or -1 without a limit. This is the last value
 * from lifed; each call requests another one.
 */
int64_t lifecycle_background_time_remaining(const struct lifecycle *app);

/*
 * Begins an activity, during which lifed does not suspend the app: "audio", "location", ... The manifest must declare the
 * mode in backgroundModes.
 *
 * Returns a number above 0 for lifecycle_end_activity() and refused, or -1 with errno.
 */
int64_t lifecycle_begin_activity(struct lifecycle *app, const char *mode);

/* Ends an activity. Ignores an activity that has ended. */
void lifecycle_end_activity(struct lifecycle *app, int64_t activity);

/* Completes the work that perform_work received. Ignores an unknown number. */
void lifecycle_complete_work(struct lifecycle *app, int64_t work, enum lifecycle_work_result result);

/* The limit of a scene's info, in bytes. */
#define LIFECYCLE_SCENE_INFO_LIMIT ((size_t)4096)

/*
 * Requests a scene: the scene with this id, or a new one if it does not exist or `scene` is NULL. It enters the foreground
 * if the app is there. The role (NULL is "window") and the info (may be NULL) are for a new scene. scene_will_connect
 * follows unless the scene is connected.
 *
 * Returns 0, or -1 with errno: EINVAL if the id or the role is not 1 to 64 letters, digits, dots, underscores and hyphens;
 * EFBIG if the info has more than LIFECYCLE_SCENE_INFO_LIMIT bytes; EAGAIN if too many requests wait for lifed.
 */
int lifecycle_open_scene(struct lifecycle *app, const char *scene, const char *role, const char *info);

/* Requests the end of a scene. scene_did_disconnect follows. Ignores an unknown scene. */
void lifecycle_close_scene(struct lifecycle *app, const char *scene);

/*
 * Sets the content of a scene in the app's own format, usually JSON; NULL for none. lifed keeps it, and the app receives
 * it when the scene is connected again, in this process or a later one.
 *
 * Returns 0, or -1 with errno: ENOENT if the scene does not exist; EFBIG if the info has more than
 * LIFECYCLE_SCENE_INFO_LIMIT bytes; EAGAIN if too many requests wait for lifed.
 */
int lifecycle_set_scene_info(struct lifecycle *app, const char *scene, const char *info);

/* Returns the state of a scene; unattached if the scene does not exist. */
enum lifecycle_scene_state lifecycle_scene_state(const struct lifecycle *app, const char *scene);

/* The limit of lifecycle_save_state(), in bytes. */
#define LIFECYCLE_STATE_LIMIT ((size_t)1 << 20)

/*
 * Saves the state that the app restores after the system has ended it, in LIFECYCLE_STATE_DIR. Replaces the saved state as
 * a whole, even if the machine fails. Waits for the disk. Call it in did_enter_background, in one process of the app at a
 * time.
 *
 * Returns 0, or -1 with errno: EINVAL if state is NULL and size is not 0; EFBIG if size is above LIFECYCLE_STATE_LIMIT;
 * ENOENT if there is no LIFECYCLE_STATE_DIR, or if this process may not use it; any errno of open(2), write(2), fsync(2) and rename(2).
 */
int lifecycle_save_state(struct lifecycle *app, const void *state, size_t size);

/*
 * Loads the saved state, for a launch with `restore`. Writes to `state` only if the capacity suffices.
 *
 * Returns the size of the saved state, or -1 with errno: EINVAL if state is NULL and capacity is not 0; ENOENT if no state
 * was saved; EBADMSG if the saved state is damaged; any errno of open(2) and read(2).
 */
int64_t lifecycle_load_state(struct lifecycle *app, void *state, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
