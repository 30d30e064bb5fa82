#include "core/cores.h"

#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the cgroup's quota ---- */

/* Read `count` numbers from the first line of a file; false if it does not match the format. */
static bool read_numbers(const char *path, const char *format, long long *first, long long *second,
                         int count)
{
    FILE *file = fopen(path, "re");
    bool parsed = file && fscanf(file, format, first, second) == count;

    if (file)
        fclose(file);
    return parsed;
}

/* The quota of one cgroup, given by its folder; 0 if it has none ("max", or -1). */
static double quota_of(const char *folder)
{
    char path[PATH_MAX];
    long long quota = 0, period = 0;

    snprintf(path, sizeof path, "%.4000s/cpu.max", folder);
    if (!read_numbers(path, "%lld %lld", &quota, &period, 2)) {
        snprintf(path, sizeof path, "%.4000s/cpu.cfs_quota_us", folder);
        if (!read_numbers(path, "%lld", &quota, NULL, 1))
            return 0.0;
        snprintf(path, sizeof path, "%.4000s/cpu.cfs_period_us", folder);
        if (!read_numbers(path, "%lld", &period, NULL, 1))
            return 0.0;
    }
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0.0;
}

/* The smallest quota of a cgroup and its ancestors, up to the mount point of the hierarchy. A
 * container may see the host's path but only its own folder, so missing folders are skipped. */
static double least_quota(const char *mount, const char *group)
{
    char folder[PATH_MAX];
    size_t end = strlen(mount);
    double least = 0.0;

    if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder)
        return 0.0;
    for (;;) {
        double quota = quota_of(folder);
        if (quota > 0.0 && (least == 0.0 || quota < least))
            least = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < end)
            return least;
        *slash = '\0';
    }
}

static bool lists_cpu(const char *controllers)
{
    char list[256], *at = list, *word;

    snprintf(list, sizeof list, "%s", controllers);
    while ((word = strsep(&at, ",")))
        if (strcmp(word, "cpu") == 0)
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1. */
static double quota_of_line(const char *root, char *line)
{
    static const char *const mounts[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;
    double quota = 0.0;

    if (!group)
        return 0.0;
    *group++ = '\0';
    controllers++;
    if (controllers[0] == '\0') {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return least_quota(mount, group);
    }
    for (int i = 0; i < 2 && quota == 0.0 && lists_cpu(controllers); i++) {
        snprintf(mount, sizeof mount, "%s%s", root, mounts[i]);
        quota = least_quota(mount, group);
    }
    return quota;
}

double kith__cgroup_cores(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    double least = 0.0;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        double quota = quota_of_line(root, line);
        if (quota > 0.0 && (least == 0.0 || quota < least))
            least = quota;
    }
    if (file)
        fclose(file);
    return least;
}

/* ---- cores ---- */

static unsigned allowed_cores(void)
{
    enum { MOST = 1 << 16 }; /* the kernel refuses a mask that is smaller than its own */
    unsigned long mask[MOST / (8 * sizeof(unsigned long))] = {0};

    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) == 0)
        return (unsigned)CPU_COUNT_S(sizeof mask, (cpu_set_t *)mask);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}

unsigned kith__cores(void)
{
    unsigned cores = allowed_cores();
    double quota = kith__cgroup_cores("");

    if (quota > 0.0 && ceil(quota) < (double)cores)
        cores = (unsigned)ceil(quota);
    return cores < 1 ? 1 : cores;
}
