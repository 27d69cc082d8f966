// The main dispatch queue, for a thread that has its own loop: what Foundation's run loop is made of on Linux.
#pragma once

/// A descriptor that is readable when the main queue has work.
int lifecycle_main_queue_descriptor(void);

/// Does the work that the main queue has. For the main thread.
void lifecycle_main_queue_drain(void);
