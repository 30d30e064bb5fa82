/* How many cores this process may use. */
#ifndef KITH_CORE_CORES_H
#define KITH_CORE_CORES_H

/* The cores that the process is allowed to run on, but no more than its cgroup's quota (rounded up)
 * gives time for; at least 1. */
unsigned kith__cores(void);

/* The quota of the process's cgroups (version 2 or 1), in cores; 0 if there is none. `root` is put
 * before /proc and /sys; it is "" except in tests. */
double kith__cgroup_cores(const char *root);

#endif
