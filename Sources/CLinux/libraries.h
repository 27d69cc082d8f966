#ifndef CLINUX_LIBRARIES_H
#define CLINUX_LIBRARIES_H

/// Has children that are cloned from now on get none of the libraries that they do not need.
///
/// The kernel copies the mappings of a library for each child, and removes them when the child executes its program. A child that had to
/// find a function in the libraries would miss them, so nothing changes unless this program was bound when it started (`-z now`).
void linux_withhold_libraries(void);

#endif
