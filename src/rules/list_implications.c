/* The strongest rules, for people. */
#include <stdlib.h>

#include "core/flag.h"
#include "core/mem.h"
#include "rules/best.h"
#include "rules/implication.h"
#include "rules/incidence.h"

static int stronger_first(const void *a, const void *b)
{
    const kith_implication *x = a, *y = b;

    if (x->confidence != y->confidence)
        return x->confidence < y->confidence ? 1 : -1;
    if (x->support != y->support)
        return x->support < y->support ? 1 : -1;
    if (x->conclusion != y->conclusion)
        return x->conclusion < y->conclusion ? -1 : 1;
    if (x->conclusion_inverse != y->conclusion_inverse)
        return x->conclusion_inverse - y->conclusion_inverse;
    if (x->premise != y->premise)
        return x->premise < y->premise ? -1 : 1;
    return x->premise_inverse - y->premise_inverse;
}

enum { PIECES = 16 };

/* Implications by conclusion, of which each piece of the conclusions keeps the best. */
typedef struct {
    const kith_graph *graph;
    kith__incidence in;
    uint32_t conclusion, min_support;
    kith__best best[PIECES];
    kith__flag no_memory;
} listing;

static kith_implication readable(const listing *l, uint32_t premise, uint32_t implied,
                                 uint32_t support)
{
    uint32_t m = l->in.relations / 2;
    float confidence = (float)support / (float)kith__frequency(&l->in, premise);

    return (kith_implication){.premise = kith__undirected(l->graph, premise),
                              .conclusion = kith__undirected(l->graph, implied),
                              .premise_inverse = premise >= m,
                              .conclusion_inverse = implied >= m,
                              .support = support,
                              .confidence = confidence};
}

static void list_column(listing *l, kith__best *best, uint32_t implied, kith__tally *tally)
{
    kith__count_together(tally, &l->in, implied);
    for (uint32_t i = 0; i < tally->met_count; i++) {
        uint32_t r = tally->met[i], support = tally->count[r];
        tally->count[r] = 0;
        if (r == implied || support < l->min_support)
            continue;
        kith_implication rule = readable(l, r, implied, support);
        if (kith__best_add(best, &rule))
            kith__flag_raise(&l->no_memory);
    }
}

static void list_piece(void *context, size_t piece)
{
    listing *l = context;
    kith__tally tally;

    if (kith__tally_init(&tally, l->in.relations))
        kith__flag_raise(&l->no_memory);
    for (size_t q = piece; !kith__flag_raised(&l->no_memory) && q < l->in.relations; q += PIECES)
        if (l->conclusion == UINT32_MAX ||
            kith__undirected(l->graph, (uint32_t)q) == l->conclusion)
            list_column(l, &l->best[piece], (uint32_t)q, &tally);
    kith__best_sort(&l->best[piece]);
    kith__tally_release(&tally);
}

/* All pieces' best into the first one. */
static int join_pieces(listing *l)
{
    int failed = 0;

    for (size_t piece = 1; piece < PIECES; piece++) {
        const kith_implication *at = l->best[piece].at;
        for (size_t i = 0; !failed && i < l->best[piece].count; i++)
            failed = kith__best_add(&l->best[0], &at[i]);
        kith__best_release(&l->best[piece]);
    }
    kith__best_sort(&l->best[0]);
    return failed;
}

kith_status kith_graph_implications(kith_implication **out, size_t *count, const kith_graph *graph,
                                    uint32_t conclusion, uint32_t min_support, size_t top,
                                    unsigned threads, kith_error *error)
{
    if (!out || !count || !graph)
        return kith__null_argument(error, __func__);

    listing l = {.graph = graph, .conclusion = conclusion, .min_support = min_support};
    kith__pool *pool = kith__pool_new(threads);
    kith_status status = KITH_OK;

    if (!pool)
        TRY(kith__no_memory(error));
    TRY(kith__incidence_init(&l.in, graph, error));
    for (size_t i = 0; i < PIECES; i++)
        l.best[i] = (kith__best){
            .size = sizeof(kith_implication), .top = top, .compare = stronger_first};
    kith__pool_run(pool, list_piece, &l, PIECES);
    if (kith__flag_raised(&l.no_memory) || join_pieces(&l))
        TRY(kith__no_memory(error));
    *out = l.best[0].at;
    *count = l.best[0].count;
    l.best[0].at = NULL;
cleanup:
    for (size_t i = 0; i < PIECES; i++)
        kith__best_release(&l.best[i]);
    kith__incidence_release(&l.in);
    kith__pool_free(pool);
    return status;
}

void kith_implications_free(kith_implication *rules)
{
    kith__free(rules);
}
