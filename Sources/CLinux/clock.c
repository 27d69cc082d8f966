#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
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
