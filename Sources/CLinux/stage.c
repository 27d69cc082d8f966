#define _GNU_SOURCE
#include "stage.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block.h"

#define FLAG_MEMORY 0x00000100ULL
#define FLAG_VARIABLES 0x00080000ULL
#define FLAG_CLEAR_NUMBER 0x00200000ULL

#define STACK_SIZE (32 << 10)
// Both of what is below, and what the C library keeps at the end of a thread's stack.
#define THREAD_STACK_SIZE (256 << 10)

// The sanitizers would take the two for one.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if (defined(__x86_64__) && defined(__LP64__) || defined(__aarch64__)) && !defined(IS_SANITIZED)
#define IS_POSSIBLE true
#else
#define IS_POSSIBLE false
#endif

struct memory {
    _Alignas(max_align_t) char stack[STACK_SIZE];
    _Alignas(max_align_t) char room[LINUX_REQUEST_ROOM];
    struct linux_child child;
};

static struct {
    // Of the thread that lends both to the child; NULL without it.
    struct memory *memory;
    void *variables;
    // 0 while the stage is free. The kernel sets it to 0 when a child has left the memory: see CLONE_CHILD_CLEARTID in clone(2).
    atomic_uint child;
} stage;

static void *lend(void *ready)
{
    struct memory memory;
    stage.variables = __builtin_thread_pointer();
    stage.memory = &memory;
    sem_post(ready);
    for (;;)
        pause();
}

static void start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sem_t ready;
    if (pthread_attr_init(&attributes) != 0)
        return;
    sem_init(&ready, 0, 0);
    sigset_t all, previous;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous);
    if (pthread_attr_setstacksize(&attributes, THREAD_STACK_SIZE) == 0
        && pthread_create(&thread, &attributes, lend, &ready) == 0)
        while (sem_wait(&ready) < 0)
            ;
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    pthread_attr_destroy(&attributes);
}

// Only one of several threads that start children at the same time gets the stage.
char *linux_reserve_stage(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!IS_POSSIBLE)
        return NULL;
    pthread_once(&once, start_thread);
    unsigned none = 0;
    bool is_reserved = stage.memory && atomic_compare_exchange_strong(&stage.child, &none, 1);
    return is_reserved ? stage.memory->room : NULL;
}

void linux_release_stage(void) { atomic_store(&stage.child, 0); }

static _Noreturn void run(struct linux_child *child)
{
    linux_run_child(*child);
}

// The C library has no function for clone3(2): the child would return from it, with the stack of another call.
static long clone_and_run(const struct linux_clone_arguments *arguments, struct linux_child *child)
{
    const size_t size = sizeof *arguments;
#if defined(__x86_64__)
    register long result __asm__("rax") = SYS_clone3;
    register const void *first __asm__("rdi") = arguments;
    register size_t second __asm__("rsi") = size;
    register void *context __asm__("r8") = child;
    register void (*function)(struct linux_child *) __asm__("r9") = run;
    __asm__ volatile("syscall\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "movq %%r8, %%rdi\n\t"
                     "callq *%%r9\n"
                     "1:"
                     : "+r"(result)
                     : "r"(first), "r"(second), "r"(context), "r"(function)
                     : "rcx", "r11", "cc", "memory");
    return result;
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clone3;
    register long result __asm__("x0") = (long)arguments;
    register size_t second __asm__("x1") = size;
    register void *context __asm__("x2") = child;
    register void (*function)(struct linux_child *) __asm__("x3") = run;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x0, x2\n\t"
                     "blr x3\n"
                     "1:"
                     : "+r"(result)
                     : "r"(number), "r"(second), "r"(context), "r"(function)
                     : "x30", "cc", "memory");
    return result;
#else
    (void)child, (void)size;
    return -ENOSYS;
#endif
}

pid_t linux_clone_on_stage(struct linux_clone_arguments arguments, struct linux_child child)
{
    arguments.flags |= FLAG_MEMORY | FLAG_VARIABLES | FLAG_CLEAR_NUMBER;
    arguments.stack = (uint64_t)(uintptr_t)stage.memory->stack;
    arguments.stack_size = STACK_SIZE;
    arguments.tls = (uint64_t)(uintptr_t)stage.variables;
    arguments.child_tid = (uint64_t)(uintptr_t)&stage.child;
    stage.memory->child = child;
    return (pid_t)clone_and_run(&arguments, &stage.memory->child);
}
