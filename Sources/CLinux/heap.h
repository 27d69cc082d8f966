#ifndef CLINUX_HEAP_H
#define CLINUX_HEAP_H

/// madvise(2) for all of the heap that sbrk(2) has grown; without effect where it is not known.
///
/// With MADV_DONTFORK a child has none. Copying its page tables takes longer the more the daemon knows, and every page of
/// it that the daemon writes to while the child lives is copied.
void linux_advise_heap(int advice);

#endif
