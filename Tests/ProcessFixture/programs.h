#ifndef PROCESS_FIXTURE_PROGRAMS_H
#define PROCESS_FIXTURE_PROGRAMS_H

// The programs that this one can be.

// alone.c
void idle(void);
void hide_memory(void);
void busy(void);
void threads(void);
void many_threads(void);
void headless(void);
void map_file(void);
void hostile_name(void);

// families.c
void fork_when_asked(void);
void family(void);
void thousand(void);
void bomb(void);
void escape_clean(void);
void escape_marked(void);
void leave_orphan(void);
void leave_orphan_later(void);
void middle(void);
void multiply(void);
void chains(void);

// signals.c
void waker(void);
void traced(void);
void ignore_term(void);
void obey_term(void);
void hold_in_vfork(void);
void hold_in_clone(void);
void stopped_job(void);

// spawning.c
void describe(void);
void spawn_in_sandbox(void);
void neglectful_parent(void);

#endif
