/* core: what everything else stands on, beside names (names_test.c). */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "core/pool.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages__a_stage_is_reported_when_it_begins_and_while_it_runs),
        cmocka_unit_test(stages__who_stops_is_not_called_again_and_the_message_names_the_stage),
        cmocka_unit_test(stages__nobody_need_watch),
        cmocka_unit_test(stages__threads_add_up_and_call_one_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
