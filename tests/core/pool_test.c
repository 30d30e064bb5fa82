/* Threads, how many there are, and the progress of what they do. The source of the pool is
 * included, so that tests can say what the machine is like. */
#include <sys/resource.h>

static struct rusage *told; /* NULL: the truth */

static int tell_usage(int who, struct rusage *used)
{
    if (!told)
        return getrusage(who, used);
    *used = *told;
    return 0;
}

#define getrusage(who, used) tell_usage((int)(who), used)
#include "core/pool.c"
#undef getrusage

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/buffers.h"
#include "core/cores.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/stages.h"
#include "support.h"
#include "core/mem.h"
#include "core/pool.h"
#include "core/status.h"
#include "core/utf8.h"
#include "graph/names.h"

/* ---- stages ---- */

typedef struct {
    size_t calls, stop_at; /* stop_at 0: never */
    kith_stage last;
    atomic_int inside;
    bool overlapped;
} watcher;

static int see(void *context, const kith_stage *stage)
{
    watcher *w = context;

    w->overlapped |= atomic_fetch_add(&w->inside, 1) != 0;
    w->last = *stage;
    w->calls++;
    atomic_fetch_sub(&w->inside, 1);
    return w->calls == w->stop_at;
}

static void stages__a_stage_is_reported_when_it_begins_and_while_it_runs(void **state)
{
    watcher w = {0};
    kith__watch watch;

    (void)state;
    kith__watch_init(&watch, see, &w);
    assert_int_equal(kith__watch_begin(&watch, "counting", 100, NULL), KITH_OK);
    assert_int_equal(w.calls, 1);
    assert_string_equal(w.last.name, "counting");
    assert_int_equal(w.last.size, sizeof(kith_stage));
    assert_int_equal(w.last.total, 100);
    for (uint64_t i = 0; i < 30; i++) {
        assert_int_equal(kith__watch_tick(&watch, i, 100), 0);
        usleep(10000);
    }
    assert_true(w.calls >= 3);
    assert_true((double)w.calls <= w.last.seconds / 0.045 + 2.0);
    assert_true(w.last.done > 0);
    assert_true(w.last.seconds > 0.0);
    kith__watch_release(&watch);
}

static void stages__who_stops_is_not_called_again_and_the_message_names_the_stage(void **state)
{
    watcher w = {.stop_at = 1};
    kith__watch watch;
    kith_error error;

    (void)state;
    kith__watch_init(&watch, see, &w);
    assert_int_equal(kith__watch_begin(&watch, "counting", 0, &error), KITH_ERR_STOPPED);
    assert_int_equal(error.status, KITH_ERR_STOPPED);
    assert_contains(error.message, "counting");
    usleep(60000);
    assert_int_not_equal(kith__watch_tick(&watch, 1, 2), 0);
    assert_int_not_equal(kith__watch_add(&watch, 1), 0);
    assert_int_equal(kith__watch_begin(&watch, "more", 0, &error), KITH_ERR_STOPPED);
    assert_int_equal(w.calls, 1);
    kith__watch_release(&watch);
}

static void stages__nobody_need_watch(void **state)
{
    kith__watch watch;

    (void)state;
    kith__watch_init(&watch, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        kith__watch *w = i == 0 ? NULL : &watch;
        assert_int_equal(kith__watch_begin(w, "counting", 1, NULL), KITH_OK);
        assert_int_equal(kith__watch_tick(w, 1, 1), 0);
        assert_int_equal(kith__watch_add(w, 1), 0);
        assert_int_equal(kith__watch_status(w, NULL), KITH_OK);
    }
    kith__watch_release(&watch);
    kith__watch_release(NULL);
}

static void tick_for_a_while(void *context, size_t piece)
{
    kith__watch *watch = context;

    (void)piece;
    for (int i = 0; i < 200; i++) {
        kith__watch_add(watch, 1);
        usleep(500);
    }
}

static void stages__threads_add_up_and_call_one_at_a_time(void **state)
{
    watcher w = {0};
    kith__watch watch;
    kith__pool *pool = kith__pool_new(4);

    (void)state;
    kith__watch_init(&watch, see, &w);
    assert_int_equal(kith__watch_begin(&watch, "adding", 1600, NULL), KITH_OK);
    kith__pool_run(pool, tick_for_a_while, &watch, 8);
    assert_int_equal(atomic_load(&watch.done), 1600);
    assert_true(w.calls >= 2);
    assert_false(w.overlapped);
    kith__pool_free(pool);
    kith__watch_release(&watch);
}

/* ---- cores ---- */

static const char *folder_in(const char *root, const char *path)
{
    const char *whole = keep(format("%s%s", root, path));

    for (char *slash = strchr((char *)whole + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0777);
        *slash = '/';
    }
    mkdir(whole, 0777);
    return whole;
}

static double quota(const char *groups, const char *folder, const char *name, const char *text,
                    const char *period)
{
    const char *root = new_folder();

    put(folder_in(root, "/proc/self"), "cgroup", groups);
    put(folder_in(root, folder), name, text);
    if (period)
        put(folder_in(root, folder), "cpu.cfs_period_us", period);
    return kith__cgroup_cores(root);
}

static void cores__the_cgroups_quota_counts(void **state)
{
    const char *v1 = "5:memory:/a\n4:cpu,cpuacct:/a\n3:cpuset:/\n";

    (void)state;
    assert_float_equal(quota("0::/a/b\n", "/sys/fs/cgroup/a/b", "cpu.max", "150000 100000\n", NULL),
                       1.5, 1e-9);
    assert_float_equal(quota("0::/a/b\n", "/sys/fs/cgroup/a", "cpu.max", "50000 100000\n", NULL),
                       0.5, 1e-9);
    assert_float_equal(quota("0::/host/c\n", "/sys/fs/cgroup", "cpu.max", "300000 100000\n", NULL),
                       3.0, 1e-9);
    assert_float_equal(quota("0::/\n", "/sys/fs/cgroup", "cpu.max", "max 100000\n", NULL), 0.0,
                       1e-9);
    assert_float_equal(
        quota(v1, "/sys/fs/cgroup/cpu/a", "cpu.cfs_quota_us", "250000\n", "100000\n"), 2.5, 1e-9);
    assert_float_equal(
        quota(v1, "/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "100000\n", "100000\n"), 1.0,
        1e-9);
    assert_float_equal(quota(v1, "/sys/fs/cgroup/cpu/a", "cpu.cfs_quota_us", "-1\n", "100000\n"),
                       0.0, 1e-9);
    assert_float_equal(quota("nonsense\n", "/sys", "x", "", NULL), 0.0, 1e-9);
    assert_float_equal(kith__cgroup_cores(new_folder()), 0.0, 1e-9);
}

static void cores__a_process_bound_to_one_core_gets_one_thread(void **state)
{
    cpu_set_t before, one;
    int first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    kith__pool *pool = kith__pool_new(0);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_non_null(pool);
    assert_int_equal(kith__pool_size(pool), 1);
    kith__pool_free(pool);
}

/* ---- the pool ---- */

static void sleep_in_the_first(void *context, size_t piece)
{
    (void)context;
    if (piece == 0)
        usleep(3000);
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pool__who_waits_long_sleeps(void **state)
{
    enum { ROUNDS = 100 };
    kith__pool *pool = kith__pool_new(0);
    unsigned threads = kith__pool_size(pool);

    (void)state;
    double before = cpu_seconds();
    for (int i = 0; i < ROUNDS; i++)
        kith__pool_run(pool, sleep_in_the_first, NULL, 2);
    /* Each thread but the one in the piece waits about 3 ms a round; it may spin for a fifth of
     * one. */
    assert_true(cpu_seconds() - before < 0.0004 * ROUNDS * threads);
    kith__pool_free(pool);
}

static size_t looks;

static bool never_comes(kith__pool *pool, unsigned long done)
{
    (void)pool;
    (void)done;
    looks++;
    return false;
}

static uint64_t own_nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* However busy the machine is: a thread has no more of its own time than what passes. */
static void pool__who_waits_spins_for_microseconds(void **state)
{
    enum { TRIES = 5, MOST = 1000 * 1000 };
    kith__pool pool = {.threads = NULL};
    uint64_t least = UINT64_MAX;

    (void)state;
    looks = 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = own_nanoseconds();
        assert_false(spin(&pool, never_comes, 0));
        uint64_t spent = own_nanoseconds() - before;
        least = spent < least ? spent : least;
    }
    assert_true(looks > TRIES);
    if (least >= MOST)
        fail_msg("waiting took %llu ns of the thread's own time, expected less than %d",
                 (unsigned long long)least, MOST);
}

static void pool__nobody_spins_where_others_want_the_core(void **state)
{
    kith__pool shared = {.crowded = true}, small = {.more_than_cores = true};
    kith__pool *larger = kith__pool_new(kith__cores() + 1);

    (void)state;
    looks = 0;
    assert_false(spin(&shared, never_comes, 0));
    assert_int_equal(looks, 1);
    assert_false(spin(&small, never_comes, 0));
    assert_int_equal(looks, 2);
    assert_true(larger->more_than_cores);
    kith__pool_free(larger);
}

static bool crowded_after(kith__pool *pool, struct rusage *used, long milliseconds,
                          long interrupted)
{
    used->ru_utime.tv_usec += 1000 * milliseconds;
    used->ru_nivcsw += interrupted;
    pool->next_check = 0;
    check_crowding(pool);
    return pool->crowded;
}

static void pool__a_thread_that_is_interrupted_often_is_not_alone(void **state)
{
    struct rusage used = {.ru_nivcsw = 7};
    kith__pool pool = {.threads = NULL};

    (void)state;
    told = &used;
    crowded_after(&pool, &used, 1, 0); /* from here on */
    assert_false(crowded_after(&pool, &used, 50, 2));
    assert_true(crowded_after(&pool, &used, 50, 3));
    assert_true(crowded_after(&pool, &used, 1, 1));
    assert_false(crowded_after(&pool, &used, 50, 0));
    told = NULL;
}

typedef struct {
    atomic_uint runs[1000];
} tally;

static void run_piece(void *context, size_t piece)
{
    atomic_fetch_add(&((tally *)context)->runs[piece], 1);
}

static void pool__runs_each_piece_once_at_any_number_of_threads(void **state)
{
    static const unsigned sizes[] = {1, 2, 3, 7};
    static const size_t pieces[] = {0, 1, 2, 3, 1000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        kith__pool *pool = kith__pool_new(sizes[i]);
        assert_non_null(pool);
        assert_int_equal(kith__pool_size(pool), sizes[i]);
        for (int round = 0; round < 50; round++)
            for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
                tally t = {0};
                kith__pool_run(pool, run_piece, &t, pieces[k]);
                for (size_t p = 0; p < 1000; p++)
                    assert_int_equal(t.runs[p], p < pieces[k]);
            }
        kith__pool_free(pool);
    }
}

static void pool__zero_threads_means_one_per_core(void **state)
{
    kith__pool *pool = kith__pool_new(0);

    (void)state;
    assert_non_null(pool);
    assert_true(kith__pool_size(pool) >= 1);
    kith__pool_free(pool);
    kith__pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages__a_stage_is_reported_when_it_begins_and_while_it_runs),
        cmocka_unit_test(stages__who_stops_is_not_called_again_and_the_message_names_the_stage),
        cmocka_unit_test(stages__nobody_need_watch),
        cmocka_unit_test(stages__threads_add_up_and_call_one_at_a_time),
        cmocka_unit_test(cores__the_cgroups_quota_counts),
        cmocka_unit_test(cores__a_process_bound_to_one_core_gets_one_thread),
        cmocka_unit_test(pool__who_waits_long_sleeps),
        cmocka_unit_test(pool__who_waits_spins_for_microseconds),
        cmocka_unit_test(pool__nobody_spins_where_others_want_the_core),
        cmocka_unit_test(pool__a_thread_that_is_interrupted_often_is_not_alone),
        cmocka_unit_test(pool__runs_each_piece_once_at_any_number_of_threads),
        cmocka_unit_test(pool__zero_threads_means_one_per_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
