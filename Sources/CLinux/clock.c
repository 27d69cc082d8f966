#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int linux_wall_clock_timer(void)
{
    int descriptor = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int linux_arm_wall_clock_timer(int timer, int64_t second)
{
    struct itimerspec instant = {.it_value = {.tv_sec = second}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &instant, NULL) < 0 ? -errno : 0;
}

int linux_read_timer(int timer)
{
    uint64_t expirations;
    return read(timer, &expirations, sizeof expirations) < 0 ? -errno : 0;
}

int linux_watch_processor(pid_t pid, int signal, intptr_t *timer)
{
    clockid_t clock;
    int error = clock_getcpuclockid(pid, &clock);
    if (error != 0)
        return -error;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal, .sigev_value.sival_int = pid};
    timer_t created;
    if (timer_create(clock, &event, &created) < 0)
        return -errno;
    const struct itimerspec next = {.it_value.tv_nsec = 1};
    error = timer_settime(created, 0, &next, NULL) < 0 ? -errno : 0;
    if (error < 0)
        timer_delete(created);
    *timer = (intptr_t)created;
    return error;
}

void linux_end_processor_watch(intptr_t timer)
{
    timer_delete((timer_t)timer);
}
