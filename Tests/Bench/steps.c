// Counts the instructions of a process between its system calls, by single steps: steps PID
//
// Unlike valgrind, it needs nothing of the program and leaves it every system call. It writes a line for each call before the call
// is made, "SECONDS INSTRUCTIONS CALL", and stops at SIGTERM; then "= ADDRESS COUNT STEP" for each address that was executed, with the
// step at which that happened first. Reading the clock does not count: what the kernel provides for it begins again whenever a tick falls
// into it, which most do while each step takes so long.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error single steps are read from the registers of x86-64
#endif

enum { slot_count = 1 << 20 };

static struct slot {
    uint64_t address, count, first;
    bool is_call;
} slots[slot_count];

static volatile sig_atomic_t is_ended;

static void end(int number) {
    (void)number;
    is_ended = 1;
}

static void check(long result, const char *what) {
    if (result >= 0) return;
    perror(what);
    exit(1);
}

// An address has its slot for as long as this program runs. The system call instruction is 0f 05.
static struct slot *slot_of(uint64_t address, int memory) {
    size_t place = (address * 0x9E3779B97F4A7C15) >> 44;
    while (slots[place].address != 0 && slots[place].address != address) place = (place + 1) % slot_count;
    struct slot *slot = &slots[place];
    if (slot->address == 0) {
        uint8_t bytes[2] = {0};
        slot->address = address;
        slot->is_call = pread(memory, bytes, 2, (off_t)address) == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;
    }
    return slot;
}

// Returns the addresses of what the kernel provides for reading the clock; none if it provides nothing.
static struct range { uint64_t begin, end; } clock_code(pid_t process) {
    char path[32], line[256];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "re");
    struct range range = {0};
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "[vdso]")) sscanf(line, "%lx-%lx", &range.begin, &range.end);
    if (maps) fclose(maps);
    return range;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// Returns the signal to deliver with the next step, or -1 at the end.
static int wait_for(pid_t process) {
    int status;
    while (waitpid(process, &status, __WALL) < 0) {
        if (errno != EINTR) return -1;
        if (is_ended) ptrace(PTRACE_INTERRUPT, process, 0, 0);
    }
    if (is_ended || !WIFSTOPPED(status)) return -1;
    return WSTOPSIG(status) == SIGTRAP || status >> 16 != 0 ? 0 : WSTOPSIG(status);
}

int main(int argument_count, char **arguments) {
    if (argument_count != 2) return 2;
    pid_t process = atoi(arguments[1]);
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/mem", process);
    int memory = open(path, O_RDONLY | O_CLOEXEC);
    check(memory, "open");
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = end}, NULL);
    check(ptrace(PTRACE_SEIZE, process, 0, 0), "ptrace");
    check(ptrace(PTRACE_INTERRUPT, process, 0, 0), "ptrace");
    int number = wait_for(process);
    struct range clock = clock_code(process);
    uint64_t last = 0, count = 0, step = 0;
    while (number >= 0) {
        struct user_regs_struct registers;
        check(ptrace(PTRACE_GETREGS, process, 0, &registers), "ptrace");
        struct slot *slot = slot_of(registers.rip, memory);
        // A string instruction is one, however often it is repeated.
        step++;
        if (registers.rip != last) {
            if (slot->count == 0) slot->first = step;
            slot->count++;
            if (registers.rip < clock.begin || registers.rip >= clock.end) count++;
        }
        last = registers.rip;
        if (slot->is_call) {
            printf("%.6f %lu %lld\n", now(), (unsigned long)count, (long long)registers.rax);
            fflush(stdout);
            count = 0;
        }
        check(ptrace(PTRACE_SINGLESTEP, process, 0, number), "ptrace");
        number = wait_for(process);
    }
    ptrace(PTRACE_DETACH, process, 0, 0);
    for (size_t place = 0; place < slot_count; place++)
        if (slots[place].count > 0)
            printf("= %lx %lu %lu\n", (unsigned long)slots[place].address, (unsigned long)slots[place].count,
                   (unsigned long)slots[place].first);
    return 0;
}
