/* Lists the strongest implications for users. */
#include <stdlib.h>

#include "core/flag.h"
#include "core/lists.h"
#include "core/mem.h"
#include "rules/best.h"
#include "rules/list_rules.h"
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

/* Implications, listed by conclusion. The conclusions are divided into pieces, and each piece keeps
 * its best implications. */
typedef struct {
    const kith_graph *graph;
    kith__incidence in;
    uint32_t conclusion, min_support;
    kith__watch *watch;
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
    for (size_t q = piece; !kith__flag_raised(&l->no_memory) && q < l->in.relations; q += PIECES) {
        if (l->conclusion == UINT32_MAX ||
            kith__undirected(l->graph, (uint32_t)q) == l->conclusion)
            list_column(l, &l->best[piece], (uint32_t)q, &tally);
        if (kith__watch_add(l->watch, 1))
            break;
    }
    kith__best_sort(&l->best[piece]);
    kith__tally_release(&tally);
}

/* Merge the best of all pieces into the first one. */
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

static kith_status publish(kith_implications **implications, const kith__best *best,
                           kith_error *error)
{
    kith_implications *out = kith__calloc(1, sizeof *out);
    kith_implication **at = kith__list_of(best->at, best->count, sizeof **at);

    if (!out || !at) {
        kith__free(out);
        kith__list_free(at);
        return kith__no_memory(error);
    }
    *out = (kith_implications){.at = (const kith_implication *const *)at, .count = best->count};
    *implications = out;
    return KITH_OK;
}

static kith_status list_all(kith_implications **implications, listing *l,
                            const kith_rules_options *options, kith_error *error)
{
    kith__pool *pool = kith__pool_new(options->threads);
    kith_status status = KITH_OK;

    for (size_t i = 0; i < PIECES; i++)
        l->best[i] = (kith__best){
            .size = sizeof(kith_implication), .top = options->top, .compare = stronger_first};
    if (!pool)
        TRY(kith__no_memory(error));
    TRY(kith__watch_begin(l->watch, "counting relations", 0, error));
    TRY(kith__incidence_init(&l->in, l->graph, l->watch, error));
    TRY(kith__watch_begin(l->watch, "counting implications", l->in.relations, error));
    kith__pool_run(pool, list_piece, l, PIECES);
    TRY(kith__watch_status(l->watch, error));
    if (kith__flag_raised(&l->no_memory) || join_pieces(l))
        TRY(kith__no_memory(error));
    TRY(publish(implications, &l->best[0], error));
cleanup:
    for (size_t i = 0; i < PIECES; i++)
        kith__best_release(&l->best[i]);
    kith__incidence_release(&l->in);
    kith__pool_free(pool);
    return status;
}

kith_status kith_graph_implications(kith_implications **implications, const kith_graph *graph,
                                    const kith_rules_options *given, kith_error *error)
{
    if (!implications || !graph)
        return kith__null_argument(error, __func__);

    kith_rules_options options;
    kith__watch watch;
    kith_status status = kith__rules_options(&options, graph, given, error);

    if (status != KITH_OK)
        return status;
    kith__watch_init(&watch, options.watch, options.context);
    listing l = {.graph = graph,
                 .conclusion = options.conclusion,
                 .min_support = options.min_support,
                 .watch = &watch};
    status = list_all(implications, &l, &options, error);
    kith__watch_release(&watch);
    return status;
}

void kith_implications_free(kith_implications *implications)
{
    if (implications)
        kith__list_free(implications->at);
    kith__free(implications);
}
