// Connected apps, for the baseline: they are told what lifed tells them, in the same order, without the reasons.
#pragma once

#include <sys/types.h>

// Tells an app that was launched with this end of its channel everything up to its being active.
void tell_launch(pid_t pid, int channel);

// Brings one app to the foreground once the other has resigned; what overlaps with lifed overlaps here.
void tell_switch(pid_t to, pid_t away);

// The rest of a switch when it has been answered: the other app enters the background. It may be stopped then.
void tell_background(pid_t away);
