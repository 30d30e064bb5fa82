/* Evidence about the answers of a query, against a brute-force twin that looks at every triple of a
 * small random graph. */
#include <math.h>

#include "core/mem.h"
#include "graph/make/holdout.h"
#include "support.h"
#include "worlds.h"

/* ---- asking: the brute-force version ---- */

/* What is asked: the facts of s as a table, and who it is. */
typedef struct {
    const world *w;
    uint8_t *fact; /* relation x entity */
    uint32_t self, query;
    size_t known;
} question;

static bool own(const question *q, uint32_t r, uint32_t o)
{
    return q->fact[(size_t)r * q->w->entities + o];
}

static void question_init(question *q, const world *w, kith__span facts, uint32_t self,
                          uint32_t query)
{
    *q = (question){w, calloc(w->relations, w->entities), self, query, 0};
    for (size_t i = 0; i < facts.count; i++)
        q->fact[(size_t)facts.at[i].relation * w->entities + facts.at[i].entity] = 1;
    for (uint32_t o = 0; o < w->entities; o++)
        q->known += own(q, query, o);
}

/* Another seen entity that has some answer. */
static bool is_witness(const question *q, uint32_t s)
{
    return s != q->self && has_relation(q->w, q->query, s);
}

/* Best, second best, noisy-or and count of a kind. */
static void add_rule(double *f, int kind, double confidence)
{
    double capped = fmin(confidence, .999), *of = f + KITH__FEATURES_OF_KIND * kind;

    of[1] = fmax(of[1], fmin(of[0], confidence));
    of[0] = fmax(of[0], confidence);
    of[2] = 1 - (1 - of[2]) * (1 - capped);
    of[3]++;
}

/* The mined confidence counts as much as 5 cases; beside it count those at s, but for the candidate
 * itself while its truth is not known, and those at o. */
static double local_confidence(const question *q, uint32_t r, uint32_t o, double mined)
{
    const world *w = q->w;
    double support = 0, body_count = 0;

    for (uint32_t e = 0; q->known && e < w->entities; e++) {
        if (is_same_fact(w, q->query, r, q->self, e))
            continue;
        body_count += own(q, r, e) && (e != o || own(q, q->query, o));
        support += own(q, r, e) && own(q, q->query, e);
    }
    for (uint32_t s = 0; s < w->seen; s++) {
        if (!is_witness(q, s) || !is_fact(w, r, s, o) || is_same_fact(w, q->query, r, s, o))
            continue;
        body_count++;
        support += is_fact(w, q->query, s, o);
    }
    return (5 * mined + support) / (5 + body_count);
}

static void expect_direct(double *f, const question *q, uint32_t o)
{
    for (uint32_t r = 0; r < q->w->relations; r++) {
        const kith__rule *rule = find_rule(&q->w->evidence->rules->of[KITH__DIRECT_KIND], q->query,
                                           r, KITH__NO_RELATION);
        f[KITH__DIRECT_LINKS] += r != q->query && own(q, r, o);
        if (!rule || !own(q, r, o) || is_same_fact(q->w, q->query, r, q->self, o))
            continue;
        add_rule(f, KITH__DIRECT_KIND, local_confidence(q, r, o, rule->confidence));
        f[KITH__DIRECT_MINED] = fmax(f[KITH__DIRECT_MINED], rule->confidence);
    }
}

static void expect_path(double *f, const question *q, uint32_t o)
{
    const kith__rules *p = &q->w->evidence->rules->of[KITH__PATH_KIND];

    for (uint64_t i = p->offset[q->query]; i < p->offset[q->query + 1]; i++)
        for (uint32_t x = 0; o != q->self && x < q->w->seen; x++) {
            if (x == o || x == q->self || !own(q, p->at[i].relation[0], x) ||
                !is_fact(q->w, p->at[i].relation[1], x, o))
                continue;
            add_rule(f, KITH__PATH_KIND, p->at[i].confidence);
        }
}

static void expect_path3(double *f, const question *q, uint32_t o)
{
    const kith__rules *p = &q->w->evidence->rules->of[KITH__PATH3_KIND];

    for (uint64_t i = p->offset[q->query]; i < p->offset[q->query + 1]; i++) {
        const uint32_t *r = p->at[i].relation;
        for (uint32_t x = 0; o != q->self && x < q->w->seen; x++)
            for (uint32_t y = 0; own(q, r[0], x) && y < q->w->seen; y++)
                if (x != q->self && x != o && y != q->self && y != x && y != o &&
                    is_fact(q->w, r[1], x, y) && is_fact(q->w, r[2], y, o))
                    add_rule(f, KITH__PATH3_KIND, p->at[i].confidence);
    }
}

static void expect_constant(double *f, const question *q, uint32_t o)
{
    const world *w = q->w;

    for (uint32_t r = 0; o != q->self && r < w->relations; r++)
        for (uint32_t c = 0; c < w->entities; c++) {
            double right = 0, body_count = 0;
            for (uint32_t s = 0; own(q, r, c) && s < w->seen; s++) {
                body_count += is_witness(q, s) && is_fact(w, r, s, c);
                right += is_witness(q, s) && is_fact(w, r, s, c) && is_fact(w, q->query, s, o);
            }
            if (right > 0)
                add_rule(f, KITH__CONSTANT_KIND, right / (body_count + 5));
        }
}

/* Facts that two known answers share, or where there are only one or two answers all of theirs; not
 * those with s, and not those that nobody else has. */
static void expect_shared(double *f, const question *q, uint32_t o)
{
    const world *w = q->w;

    for (uint32_t r = 0; o != q->self && r < w->relations; r++)
        for (uint32_t c = 0; c < w->seen; c++) {
            double shared = 0, having = 0;
            for (uint32_t e = 0; is_fact(w, r, o, c) && c != q->self && e < w->seen; e++) {
                shared += own(q, q->query, e) && is_fact(w, r, e, c);
                having += is_fact(w, r, e, c);
            }
            if (shared == 0 || having <= shared || (shared < 2 && q->known > 2))
                continue;
            f[KITH__SHARED_BEST] = fmax(f[KITH__SHARED_BEST], shared / (having + 5));
            f[KITH__SHARED_SHARE] = fmax(f[KITH__SHARED_SHARE], shared / ((double)q->known + 1));
            f[KITH__SHARED_SUM] += shared / (having + 5);
        }
}

static void expect(double *figure, const question *q, uint32_t o)
{
    memset(figure, 0, KITH__RULE_FEATURES * sizeof *figure);
    expect_direct(figure, q, o);
    if (o < q->w->seen) {
        expect_path(figure, q, o);
        expect_path3(figure, q, o);
        expect_constant(figure, q, o);
        expect_shared(figure, q, o);
    }
}

/* ---- asking ---- */

static void check_figures(const kith__evidence_query *a, const question *q, uint32_t o)
{
    const float *found = query_row(a, o);
    double expected[KITH__RULE_FEATURES];

    expect(expected, q, o);
    bool told = false;
    for (int k = 0; k < KITH__RULE_FEATURES; k++) {
        told |= expected[k] > 0;
        if (!(fabs((found ? found[k] : 0) - expected[k]) <= 2e-5 * (1 + expected[k])))
            fail_msg("query %u of %u, candidate %u, figure %d: found %g, expected %g", q->query,
                     q->self, o, k, found ? (double)found[k] : 0, expected[k]);
    }
    assert_int_equal(found != NULL, told);
}

/* Facts of an unseen entity stand at it alone. */
static void check_answered(const kith__evidence_query *a, const world *w, uint32_t query)
{
    uint32_t inverse = (query + w->relations / 2) % w->relations;

    for (uint32_t o = 0; o < w->entities; o++) {
        uint32_t count = 0;
        for (uint32_t s = 0; s < w->seen; s++)
            count += is_fact(w, query, s, o) ||
                     (a->table->unseen && o >= w->seen && is_fact(w, inverse, o, s));
        assert_int_equal(kith__evidence_answered(a, o), count);
    }
}

static void check_query(kith__evidence_query *a, const world *w, uint32_t self, uint32_t query)
{
    kith__span facts = kith__facts_of(w->evidence->base->index, self);
    question q;

    question_init(&q, w, facts, self, query);
    ask_rules(a, facts, self, query);
    assert_int_equal(a->known, q.known);
    check_answered(a, w, query);
    for (uint32_t o = 0; o < w->entities; o++)
        check_figures(a, &q, o);
    for (size_t i = 0; i < a->count; i++)
        assert_ptr_equal(query_row(a, a->rows[i].entity), a->rows[i].feature);
    free(q.fact);
}

static void check_asking(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    query_open(&a, w);
    for (int i = 0; i < 12; i++)
        check_query(&a, w, below(rng, w->seen), below(rng, w->relations));
    for (uint32_t u = w->seen; u < w->entities; u++)
        check_query(&a, w, u, below(rng, w->relations));
    kith__evidence_query_release(&a);
}

static void ask__figures_are_those_of_brute_force(void **state)
{
    (void)state;
    in_worlds(301, check_asking);
}

/* What was asked, kept to compare with. */
typedef struct {
    kith__candidate_evidence *rows;
    size_t count;
} answer;

static answer keep_answer(const kith__evidence_query *a)
{
    answer k = {malloc((a->count + 1) * sizeof *a->rows), a->count};
    if (a->count > 0)
        memcpy(k.rows, a->rows, a->count * sizeof *a->rows);
    return k;
}

static void check_same_answer(const kith__evidence_query *a, const answer *k)
{
    assert_int_equal(a->count, k->count);
    if (k->count > 0)
        assert_memory_equal(a->rows, k->rows, k->count * sizeof *k->rows);
}

static void check_newcomers(world *w, kith__rng *rng)
{
    kith__evidence_query a, b;

    query_open(&a, w);
    query_open(&b, w);
    for (uint32_t u = w->seen; u < w->entities; u++) {
        kith__span facts = kith__facts_of(w->evidence->base->index, u);
        kith_neighbor *list = malloc((2 * facts.count + 1) * sizeof *list);
        size_t count = 0;
        /* In another order, and each twice. */
        for (size_t i = 0; i < 2 * facts.count; i++)
            list[count++] = facts.at[facts.count - 1 - i / 2];
        count = kith__sort_facts(list, count);
        uint32_t query = below(rng, w->relations);
        ask_rules(&a, facts, u, query);
        ask_rules(&b, (kith__span){list, count}, UINT32_MAX, query);
        answer k = keep_answer(&a);
        check_same_answer(&b, &k);
        free(k.rows);
        free(list);
    }
    kith__evidence_query_release(&a);
    kith__evidence_query_release(&b);
}

static void ask__a_newcomer_gets_what_an_unseen_entity_with_its_facts_gets(void **state)
{
    (void)state;
    in_worlds(302, check_newcomers);
}

static void check_repeats(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    query_open(&a, w);
    for (int i = 0; i < 10; i++) {
        uint32_t s = below(rng, w->entities), query = below(rng, w->relations);
        kith__span facts = kith__facts_of(w->evidence->base->index, s);
        ask_rules(&a, facts, s, query);
        answer k = keep_answer(&a);
        ask_rules(&a, facts, s, query);
        check_same_answer(&a, &k);
        for (int other = 0; other < 4; other++) {
            uint32_t e = below(rng, w->entities);
            ask_rules(&a, kith__facts_of(w->evidence->base->index, e), e, below(rng, w->relations));
        }
        ask_rules(&a, facts, s, query);
        check_same_answer(&a, &k);
        check_answered(&a, w, query);
        free(k.rows);
    }
    kith__evidence_query_release(&a);
}

static void ask__other_questions_in_between_change_nothing(void **state)
{
    (void)state;
    in_worlds(303, check_repeats);
}

static void ask__an_entity_is_not_its_own_witness(void **state)
{
    kith__evidence_query a;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "s\tlives\tx\ns\tspeaks\to\nt\tlives\tx\n"), 1);
    query_open(&a, &w);
    uint32_t s = world_entity(&w, "s"), t = world_entity(&w, "t"), o = world_entity(&w, "o");
    ask_rules(&a, kith__facts_of(w.evidence->base->index, s), s, 1);
    assert_null(query_row(&a, o));
    ask_rules(&a, kith__facts_of(w.evidence->base->index, t), t, 1);
    assert_non_null(query_row(&a, o));
    assert_float_equal(query_row(&a, o)[KITH__CONSTANT_BEST], 1. / 6, 1e-6);
    ask_rules(&a, kith__facts_of(w.evidence->base->index, s), UINT32_MAX, 1);
    assert_non_null(query_row(&a, o));
    kith__evidence_query_release(&a);
    world_close(&w);
}

static void ask__no_facts_say_nothing(void **state)
{
    kith__evidence_query a;
    world w;

    (void)state;
    world_open(&w, file("g.tsv", "a\tr\tb\nc\tr\tb\n"), 1);
    query_open(&a, &w);
    ask_rules(&a, (kith__span){NULL, 0}, UINT32_MAX, 0);
    assert_int_equal(a.count, 0);
    assert_int_equal(kith__evidence_answered(&a, world_entity(&w, "b")), 2);
    kith__evidence_query_release(&a);
    kith__evidence_query_release(&a);
    world_close(&w);
}

/* ---- reasons ---- */

/* Figures made from the reasons told, per entity. */
typedef struct {
    const question *q;
    float (*figure)[KITH__RULE_FEATURES];
} telling;

static void check_reason(const question *q, const kith__reason *r)
{
    const world *w = q->w;
    float counted = kith__shrunk(r->support, r->body_count);

    assert_true(r->support <= r->body_count && r->confidence > 0 && r->confidence <= 1);
    if (r->kind == KITH__DIRECT_KIND)
        assert_true(own(q, r->relation[0], r->candidate));
    else
        assert_float_equal(r->confidence, counted, 0);
    size_t steps = kith__rule_kinds[r->kind]->steps;
    uint32_t ends[] = {r->between[0], r->between[1], r->candidate};
    if (steps > 1) {
        ends[steps - 1] = r->candidate;
        assert_true(own(q, r->relation[0], ends[0]));
        for (size_t k = 1; k < steps; k++)
            assert_true(is_fact(w, r->relation[k], ends[k - 1], ends[k]));
    }
    for (size_t k = steps > 1 ? steps : 1; k < KITH__MOST_STEPS; k++)
        assert_int_equal(r->relation[k], KITH__NO_RELATION);
    if (r->kind == KITH__CONSTANT_KIND)
        assert_true(own(q, r->relation[0], r->between[0]));
    if (r->kind == KITH__SHARED_KIND)
        assert_true(is_fact(w, r->relation[0], r->candidate, r->between[0]));
}

static void hear(void *context, const kith__reason *r)
{
    telling *t = context;
    float *f = t->figure[r->candidate];
    float *of = f + KITH__FEATURES_OF_KIND * r->kind;
    bool shared = r->kind == KITH__SHARED_KIND;

    check_reason(t->q, r);
    of[1] = shared ? 0 : fmaxf(of[1], fminf(of[0], r->confidence));
    of[0] = fmaxf(of[0], r->confidence);
    of[3] += !shared;
    f[KITH__SHARED_SUM] += shared ? r->confidence : 0;
}

static void check_told(const kith__evidence_query *a, const telling *t)
{
    for (uint32_t o = 0; o < t->q->w->entities; o++) {
        const float *found = query_row(a, o);
        for (int k = 0; k < KITH__RULE_KINDS * KITH__FEATURES_OF_KIND; k++)
            if (k % KITH__FEATURES_OF_KIND != 2)
                assert_float_equal(t->figure[o][k], (found ? found[k] : 0), 0);
        assert_float_equal(t->figure[o][KITH__SHARED_SUM], (found ? found[KITH__SHARED_SUM] : 0),
                           0);
    }
}

static void check_reasons(world *w, kith__rng *rng)
{
    kith__evidence_query a;

    query_open(&a, w);
    for (int i = 0; i < 12; i++) {
        uint32_t s = below(rng, w->entities), query = below(rng, w->relations);
        kith__span facts = kith__facts_of(w->evidence->base->index, s);
        question q;
        question_init(&q, w, facts, s, query);
        telling t = {&q, calloc(w->entities, sizeof *t.figure)};
        ask_rules(&a, facts, s, query);
        answer silent = keep_answer(&a);
        a.report = hear;
        a.context = &t;
        ask_rules(&a, facts, s, query);
        a.report = NULL;
        check_same_answer(&a, &silent);
        check_told(&a, &t);
        free(silent.rows);
        free(t.figure);
        free(q.fact);
    }
    kith__evidence_query_release(&a);
}

static void ask__reasons_add_up_to_the_figures(void **state)
{
    (void)state;
    in_worlds(304, check_reasons);
}

/* ---- hubs ---- */

static void ask__a_hub_of_5000_facts_is_asked_like_any_other(void **state)
{
    draft t = {0};
    kith__evidence_query a;
    world w;

    (void)state;
    for (int i = 0; i < 5000; i++)
        add(&t, "p%d\tin\thub\n", i);
    for (int i = 0; i < 1000; i++)
        add(&t, "p%d\tspeaks\tl%d\n", i, i % 2);
    /* Too large for a table of all triples. */
    const char *path = file("g.tsv", t.at);
    kith_error error;
    w = (world){.graph = opened(path), .pool = kith__pool_new(2)};
    assert_int_equal(kith__evidence_new(&w.evidence, w.graph, false, w.pool, &error), KITH_OK);
    query_open(&a, &w);
    uint32_t s = world_entity(&w, "p4000"), hub = world_entity(&w, "hub");
    ask_rules(&a, kith__facts_of(w.evidence->base->index, s), s, 1);
    for (int l = 0; l < 2; l++) {
        const float *f = query_row(&a, world_entity(&w, format("l%d", l)));
        assert_non_null(f);
        assert_true(fabsf(f[KITH__CONSTANT_BEST] - .5f) < .1f);
    }
    ask_rules(&a, kith__facts_of(w.evidence->base->index, hub), hub, 2);
    for (size_t i = 0; i < a.count; i++)
        for (int k = 0; k < KITH__RULE_FEATURES; k++)
            assert_true(isfinite(a.rows[i].feature[k]) && a.rows[i].feature[k] >= 0);
    kith__evidence_query_release(&a);
    world_close(&w);
    draft_release(&t);
}

/* ---- memory of a query ---- */

static void ask__memory_grows_with_what_is_touched_and_not_with_the_graph(void **state)
{
    kith__evidence_query a;
    draft t = {0};
    kith_error error;

    (void)state;
    for (int i = 0; i < 70000; i++)
        add(&t, "p%d\tin\tc%d\n", i, i / 50);
    for (int i = 0; i < 100; i++)
        add(&t, "p%d\tspeaks\tl%d\n", i, i % 3);
    world w = {.graph = opened(file("g.tsv", t.at)), .pool = kith__pool_new(1)};
    assert_int_equal(kith__evidence_new(&w.evidence, w.graph, false, w.pool, &error), KITH_OK);
    uint32_t s = world_entity(&w, "p10");
    kith__span facts = kith__facts_of(w.evidence->base->index, s);
    query_open(&a, &w);
    ask_rules(&a, facts, s, 1); /* makes the relation's table, which all share */
    kith__evidence_query_release(&a);
    query_open(&a, &w);
    kith__mem_count(1);
    ask_rules(&a, facts, s, 1);
    kith__mem_count(0);
    assert_non_null(query_row(&a, world_entity(&w, "l0")));
    assert_true(kith__mem_counted() <
                64 << 10); /* an array of 4 bytes per entity would be 285 kB */
    kith__evidence_query_release(&a);
    world_close(&w);
    draft_release(&t);
}

/* ---- failing allocations ---- */

static kith_status try_mining(void *context, kith_error *error)
{
    const world *w = context;
    kith__evidence *evidence = NULL;
    kith_status status = kith__evidence_new(&evidence, w->graph, false, w->pool, error);

    if (status == KITH_OK) {
        check_same_rules(evidence->rules, w->evidence->rules);
    }
    kith__evidence_free(evidence);
    return status;
}

static kith_status try_asking(void *context, kith_error *error)
{
    const world *w = context;
    const kith__index *x = w->evidence->base->index;
    kith__evidence_query a;
    kith_status status = KITH_OK;

    query_open(&a, w);
    for (uint32_t e = 0; status == KITH_OK && e < w->entities; e += 3)
        status = kith__evidence_query_run(&a, kith__facts_of(x, e), e, e % w->relations, error);
    kith__evidence_query_release(&a);
    return status;
}

/* One question fails, and the next is answered as if nothing had been. */
static void check_after_failures(const world *w)
{
    const kith__index *x = w->evidence->base->index;

    for (size_t n = 1; n < 12; n++) {
        kith__evidence_query a;
        kith_error error;
        query_open(&a, w);
        kith__mem_fail_at(n);
        (void)kith__evidence_query_run(&a, kith__facts_of(x, 0), 0, 1, &error);
        kith__mem_fail_at(0);
        check_query(&a, w, 1, 1);
        check_query(&a, w, 0, 1);
        kith__evidence_query_release(&a);
    }
}

static kith_status try_holding_out(void *context, kith_error *error)
{
    const world *w = context;
    const kith__holdout_options options = {true, true, true, .2, 3, 100, 1};
    kith_graph *made = NULL;
    kith_status status = kith__graph_hold_out(&made, w->graph, &options, w->pool, error);

    assert_int_equal(made != NULL, status == KITH_OK);
    kith_graph_free(made);
    return status;
}

static kith_status try_listing(void *context, kith_error *error)
{
    const world *w = context;
    const kith_rules_options options = {
        .conclusion = UINT32_MAX, .min_support = 1, .top = 20, .threads = 1};
    kith_rules *rules = NULL;
    kith_status status = kith_graph_rules(&rules, w->graph, &options, error);

    kith_rules_free(rules);
    return status;
}

static void torture__mining_asking_and_holding_out(void **state)
{
    kith__rng rng;
    world w;

    (void)state;
    kith__rng_init(&rng, 501, 0);
    world_open(&w, world_folder(&rng, 30, 6, 60), 1);
    fail_each_allocation(try_mining, &w);
    fail_each_allocation(try_asking, &w);
    fail_each_allocation(try_holding_out, &w);
    fail_each_allocation(try_listing, &w);
    check_after_failures(&w);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ask__figures_are_those_of_brute_force),
        cmocka_unit_test(ask__a_newcomer_gets_what_an_unseen_entity_with_its_facts_gets),
        cmocka_unit_test(ask__other_questions_in_between_change_nothing),
        cmocka_unit_test(ask__an_entity_is_not_its_own_witness),
        cmocka_unit_test(ask__no_facts_say_nothing),
        cmocka_unit_test(ask__reasons_add_up_to_the_figures),
        cmocka_unit_test(ask__a_hub_of_5000_facts_is_asked_like_any_other),
        cmocka_unit_test(ask__memory_grows_with_what_is_touched_and_not_with_the_graph),
        cmocka_unit_test(torture__mining_asking_and_holding_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
