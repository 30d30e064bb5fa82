/* How many cores this process may use. */
#ifndef KITH_CORE_CORES_H
#define KITH_CORE_CORES_H

/* At least 1: those that the process is allowed to run on, and no more than the quota of its
 * cgroup, rounded up, gives time for. */
unsigned kith__cores(void);

/* The quota of the process's cgroups (version 2 or 1), in cores; 0 where there is none. `root`
 * is put before /proc and /sys, "" but in tests. */
double kith__cgroup_cores(const char *root);

#endif
