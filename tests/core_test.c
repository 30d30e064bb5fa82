/* core: what everything else stands on, beside names (names_test.c). The source of the pool is
 * included, for how it waits, and its question to the scheduler is answered here. */
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
#include "../src/core/pool.c"
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
#include "core/mem.h"
#include "core/numbers.h"
#include "core/radix.h"
#include "core/stages.h"
#include "support.h"

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

/* ---- numbers ---- */

static void numbers__a_count_is_digits_alone(void **state)
{
    static const char *const bad[] = {"",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "1e3",
                                      "1.0",
                                      "1,",
                                      "inf",
                                      "٣",
                                      "11",
                                      "18446744073709551616"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith__parse_count(&value, bad[i], 0, 10) || value != 7)
            fail_msg("'%s' is taken for a count", bad[i]);
    assert_false(kith__parse_count(&value, "2", 3, 10));
    assert_true(kith__parse_count(&value, "010", 0, 10));
    assert_int_equal(value, 10);
    assert_true(kith__parse_count(&value, "18446744073709551615", 0, UINT64_MAX));
    assert_true(value == UINT64_MAX);
    assert_false(kith__parse_count(&value, "18446744073709551616", 0, UINT64_MAX));
    assert_false(kith__parse_count(&value, "99999999999999999999999", 0, UINT64_MAX));
    assert_true(kith__parse_digits(&value, "12x", 2, 12));
    assert_int_equal(value, 12);
}

static void numbers__a_real_is_decimal(void **state)
{
    static const char *const bad[] = {"",    "-",     ".",   "e3",  "1e",    "0x10", "0x1p3",
                                      "inf", "nan",   " 1",  "1 ",  "+1",    "1,5",  "1.5x",
                                      "--1", "1e999", "101", "-11", "1e+-3", "1.2.3"};
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1},     {"-1", -1},    {".5", .5},   {"5.", 5},   {"2.5e-3", .0025},
                {"1E+1", 10}, {"1e-999", 0}, {"100", 100}, {"-10", -10}};
    double value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith__parse_real(&value, bad[i], -10, 100) || value != 7)
            fail_msg("'%s' is taken for a number", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!kith__parse_real(&value, good[i].text, -10, 100))
            fail_msg("'%s' is not taken for a number", good[i].text);
        assert_true(value == good[i].value);
    }
}

static void numbers__settings_take_strict_numbers(void **state)
{
    static const char *const bad[][2] = {
        {"dim", "1e3"},    {"dim", "0x10"},  {"dim", "10.0"}, {"dim", " 10"},
        {"dim", "+10"},    {"lr", "0x1p-4"}, {"lr", "nan"},   {"lr", " .1"},
        {"epochs", "1e2"}, {"seed", "0x1"},  {"seed", "-1"},  {"attention-width", "1e1"}};
    kith_settings settings;
    kith_error error;

    (void)state;
    assert_int_equal(kith__settings_init(&settings, "release", NULL), KITH_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kith_settings_set(&settings, bad[i][0], bad[i][1], &error) != KITH_ERR_ARGUMENT)
            fail_msg("%s takes '%s'", bad[i][0], bad[i][1]);
    assert_int_equal(kith_settings_set(&settings, "lr", "1e-3", &error), KITH_OK);
    assert_int_equal(kith_settings_set(&settings, "dim", "1000", &error), KITH_OK);
    assert_int_equal(settings.dim, 1000);
}

/* ---- buffers ---- */

typedef struct {
    kith__buffers buffers;
    uint32_t *numbers;
    double *reals;
} owner;

static void buffers__grow_aligned_and_keep_what_they_are_asked_to(void **state)
{
    owner a = {0};

    (void)state;
    for (size_t count = 0; count < 5000; count = 2 * count + 7) {
        assert_int_equal(KITH__EXTEND(&a, numbers, count + 1), 0);
        assert_int_equal(KITH__GROW(&a, reals, count), 0);
        assert_int_equal((uintptr_t)a.numbers % 64, 0);
        assert_int_equal((uintptr_t)a.reals % 64, 0);
        a.numbers[count] = (uint32_t)count;
        for (size_t before = 0; before <= count; before = 2 * before + 7)
            assert_int_equal(a.numbers[before], before);
        memset(a.reals, 1, count * sizeof *a.reals);
    }
    uint32_t *there = a.numbers;
    assert_int_equal(KITH__EXTEND(&a, numbers, 10), 0); /* enough is left alone */
    assert_ptr_equal(a.numbers, there);
    assert_int_equal(KITH__GROW(&a, reals, SIZE_MAX / 4), -1);
    kith__buffers_release(&a.buffers);
    assert_null(a.buffers.first);
}

static void buffers__of_two_owners_may_change_places(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        owner a = {0}, b = {0};
        assert_int_equal(KITH__GROW(&a, numbers, 3), 0);
        assert_int_equal(KITH__GROW(&a, reals, 3), 0);
        assert_int_equal(KITH__GROW(&b, numbers, 3), 0);
        uint32_t *swap = a.numbers;
        a.numbers = b.numbers;
        b.numbers = swap;
        assert_int_equal(KITH__GROW(&a, numbers, 1000), 0);
        assert_int_equal(KITH__GROW(&b, numbers, 1000), 0);
        kith__buffers_release(first ? &a.buffers : &b.buffers);
        kith__buffers_release(first ? &b.buffers : &a.buffers);
    }
}

/* ---- files ---- */

static void files__only_what_kith_left_is_removed(void **state)
{
    static const char *const users[] = {"notes.tmp-old",          "notes.tmp-1",
                                        ".tmp-0123456789ab",      "a.tmp-0123456789abc",
                                        "a.tmp-0123456789ab.txt", "a.tmp-0123456789aB"};
    const char *folder = new_folder();

    (void)state;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        put(folder, users[i], "precious");
    const char *left = put(folder, "model.safetensors.tmp-0123456789ab", "half");
    const char *inner = keep(format("%s/heldout.tmp-00ff00ff00ff", folder));
    mkdir(inner, 0777);
    put(inner, "config.json", "{}");
    kith__remove_leftovers(folder);
    assert_false(exists(left));
    assert_false(exists(inner));
    assert_int_equal(entries(folder), sizeof users / sizeof *users);
}

static void files__what_is_being_written_is_no_leftover(void **state)
{
    const char *folder = new_folder(), *path = keep(format("%s/a", folder));
    kith__new_file first, second;
    kith__new_folder inner;

    (void)state;
    assert_int_equal(kith__new_file_open(&first, path, NULL), KITH_OK);
    assert_int_equal(kith__new_file_open(&second, path, NULL), KITH_OK);
    assert_int_equal(kith__new_folder_open(&inner, path, NULL), KITH_OK);
    kith__remove_leftovers(folder);
    assert_int_equal(entries(folder), 3);
    fputs("one", first.stream);
    assert_int_equal(kith__new_file_commit(&first, NULL), KITH_OK);
    kith__new_file_abandon(&second);
    kith__new_folder_abandon(&inner);
    assert_int_equal(entries(folder), 1);
    size_t length;
    char *text = contents(path, &length);
    assert_string_equal(text, "one");
    free(text);
}

/* Renames and removals of temporary files that another process could have locked meanwhile. */
static size_t unlocked;

static void note_lock(const char *path)
{
    int file = strstr(path, ".tmp-") ? open(path, O_RDONLY) : -1;

    unlocked += file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (file >= 0)
        close(file);
}

int __real_rename(const char *, const char *);
int __wrap_rename(const char *, const char *);
int __real_unlink(const char *);
int __wrap_unlink(const char *);

int __wrap_rename(const char *from, const char *to)
{
    note_lock(from);
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    note_lock(path);
    return __real_unlink(path);
}

static void files__the_lock_is_held_until_a_file_has_its_name_or_is_gone(void **state)
{
    const char *folder = new_folder(), *path = keep(format("%s/a", folder));
    kith__new_file file;

    (void)state;
    put(folder, "a.tmp-0123456789ab", "half");
    unlocked = 0;
    assert_int_equal(kith__new_file_open(&file, path, NULL), KITH_OK);
    assert_int_equal(entries(folder), 1); /* the leftover is gone */
    assert_int_equal(kith__new_file_commit(&file, NULL), KITH_OK);
    assert_true(exists(path));
    assert_int_equal(unlocked, 0);
}

static void files__what_the_user_names_goes_where_a_link_leads(void **state)
{
    const char *folder = new_folder(), *link = keep(format("%s/link", folder));
    const char *target = put(folder, "target", "old");
    kith__new_file file;
    size_t length;

    (void)state;
    for (int own = 0; own < 2; own++) {
        unlink(link);
        assert_int_equal(symlink("target", link), 0);
        assert_int_equal(own ? kith__new_file_replace(&file, link, NULL)
                             : kith__new_file_open(&file, link, NULL),
                         KITH_OK);
        fputs(own ? "own" : "new", file.stream);
        assert_int_equal(kith__new_file_commit(&file, NULL), KITH_OK);
        char *text = contents(target, &length), *linked = contents(link, &length);
        assert_string_equal(text, "new");
        assert_string_equal(linked, own ? "own" : "new");
        free(text);
        free(linked);
        assert_int_equal(readlink(link, (char[8]){0}, 8) > 0, !own);
        assert_int_equal(entries(folder), 2);
    }
}

static void files__stdout_is_shared_and_not_replaced(void **state)
{
    const char *folder = new_folder(), *path = put(folder, "a", "");
    const char *link = keep(format("%s/stdout", folder));
    kith__new_file file;
    size_t length;

    (void)state;
    assert_int_equal(symlink("/proc/self/fd/1", link), 0);
    fflush(stdout);
    int before = dup(1), to = open(path, O_WRONLY);
    dup2(to, 1);
    bool good = write(1, "one ", 4) == 4 && kith__new_file_open(&file, link, NULL) == KITH_OK &&
                fputs("two ", file.stream) >= 0 && kith__new_file_commit(&file, NULL) == KITH_OK &&
                write(1, "three", 5) == 5;
    dup2(before, 1);
    close(before);
    close(to);
    assert_true(good);
    char *text = contents(path, &length);
    assert_string_equal(text, "one two three");
    free(text);
    assert_true(readlink(link, (char[32]){0}, 32) > 0);
}

/* ---- sorting ---- */

static int by_both_keys(const void *a, const void *b)
{
    const kith__item *x = a, *y = b;

    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

typedef struct {
    kith__pool *pool; /* NULL: on the calling thread alone */
    uint64_t majors, minors;
    size_t count;
    bool same;
} sorting;

static void *sort_and_compare(void *context)
{
    sorting *s = context;
    kith__item *found = malloc(s->count * sizeof *found),
               *wanted = malloc(s->count * sizeof *found);
    kith__item *spare = malloc(s->count * sizeof *spare);
    kith__rng rng;

    kith__rng_init(&rng, s->count, s->majors);
    for (size_t i = 0; i < s->count; i++)
        found[i] = (kith__item){(uint32_t)kith__rng_below(&rng, s->majors),
                                (uint32_t)kith__rng_below(&rng, s->minors), (uint32_t)i};
    memcpy(wanted, found, s->count * sizeof *wanted);
    qsort(wanted, s->count, sizeof *wanted, by_both_keys);
    if (s->pool)
        kith__radix_sort_on(s->pool, found, spare, s->count, s->majors, s->minors);
    else
        kith__radix_sort(found, spare, s->count, s->majors, s->minors);
    s->same = memcmp(found, wanted, s->count * sizeof *found) == 0;
    free(found);
    free(wanted);
    free(spare);
    return NULL;
}

/* With as little stack as a thread may have, and with no memory for counts. */
static void radix__sorts_on_a_small_stack_and_without_memory(void **state)
{
    static const uint64_t bounds[] = {1, 2, 300, 5000, 16384, 70000, UINT64_C(1) << 32};
    enum { BOUNDS = sizeof bounds / sizeof *bounds };
    kith__pool *pools[] = {NULL, kith__pool_new(4)};
    pthread_attr_t small;
    pthread_t thread;

    (void)state;
    pthread_attr_init(&small);
    assert_int_equal(pthread_attr_setstacksize(&small, 48 << 10), 0);
    for (size_t i = 0; i < 2 * 2 * BOUNDS * BOUNDS; i++) {
        sorting s = {.pool = pools[i % 2],
                     .majors = bounds[i / 4 % BOUNDS],
                     .minors = bounds[i / 4 / BOUNDS],
                     .count = 20000};
        kith__mem_fail_at(i / 2 % 2);
        assert_int_equal(pthread_create(&thread, &small, sort_and_compare, &s), 0);
        pthread_join(thread, NULL);
        kith__mem_fail_at(0);
        if (!s.same)
            fail_msg("found another order for numbers below %llu and %llu",
                     (unsigned long long)s.majors, (unsigned long long)s.minors);
    }
    pthread_attr_destroy(&small);
    kith__pool_free(pools[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers__grow_aligned_and_keep_what_they_are_asked_to),
        cmocka_unit_test(buffers__of_two_owners_may_change_places),
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
        cmocka_unit_test(numbers__a_count_is_digits_alone),
        cmocka_unit_test(numbers__a_real_is_decimal),
        cmocka_unit_test(numbers__settings_take_strict_numbers),
        cmocka_unit_test(files__only_what_kith_left_is_removed),
        cmocka_unit_test(files__what_is_being_written_is_no_leftover),
        cmocka_unit_test(files__the_lock_is_held_until_a_file_has_its_name_or_is_gone),
        cmocka_unit_test(files__what_the_user_names_goes_where_a_link_leads),
        cmocka_unit_test(files__stdout_is_shared_and_not_replaced),
        cmocka_unit_test(radix__sorts_on_a_small_stack_and_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
