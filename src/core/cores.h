/* How many cores this process may use. */
#ifndef KITH_CORE_CORES_H
#define KITH_CORE_CORES_H

/* The number of cores that the process may run on, at most the CPU quota of its cgroup (rounded up)
 * and at least 1. */
unsigned kith__cores(void);

/* The CPU quota of the cgroups of the process (version 2 or 1), in cores; 0 if there is none.
 * `root` is prepended to /proc and /sys; it is "" except in tests. */
double kith__cgroup_cores(const char *root);

#endif
