// Swift's Glibc module lacks signalfd(2).
#include <sys/signalfd.h>
