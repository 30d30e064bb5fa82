/* The neighbours that the model looks at: the graph's neighbourhoods cut to a cap, with relations
 * numbered 0..2m-1, and what the logic weight divides by (paper, eq. 5). */
#ifndef KITH_EMBED_NEIGHBOR_LISTS_H
#define KITH_EMBED_NEIGHBOR_LISTS_H

#include "embed/settings.h"
#include "rules/implication.h"

typedef struct kith__neighbor_lists {
    uint32_t entities;  /* all of the graph: seen ones first, then those with aux facts or none */
    uint32_t seen;      /* n */
    uint32_t relations; /* 2m */
    /* Of entity e: at[offset[e]] and those that follow, at most `cap` of them. Both are the graph's
     * own where they can be: its first neighbours are taken, and its relations are train's. */
    const uint64_t *offset;
    const kith_neighbor *at;
    size_t cap;
    uint64_t *own_offset; /* NULL where they are another's */
    kith_neighbor *own_at;
    float *denominator; /* beside `at`; NULL where the aggregator has no logic weight, or packed: */
    uint16_t *packed; /* which of the rules that imply the neighbour's relation gives it, from 1 */
    const kith__implications *rules; /* the rules of `packed` */
    bool one_plus;            /* whether 1 is added to their confidence */
    bool mapped;        /* the arrays are in the graph's file */
    /* Neighbours from `seen` on are not entities: they are these rows, vectors that stand for input
     * embeddings. In each list they come last. Lists that training reads have none. */
    const float *vectors;
    uint32_t vector_count;
} kith__neighbor_lists;

static inline size_t kith__list_count(const kith__neighbor_lists *lists, uint32_t entity)
{
    size_t count = (size_t)(lists->offset[entity + 1] - lists->offset[entity]);
    return count < lists->cap ? count : lists->cap;
}

/* What the logic weight of the neighbour at a place of the lists is divided by. */
static inline float kith__denominator(const kith__neighbor_lists *lists, uint64_t place)
{
    if (lists->denominator)
        return lists->denominator[place];
    if (lists->packed[place] == 0) /* no rule, or one too weak to show */
        return 1;
    uint64_t first = lists->rules->offset[lists->at[place].relation];
    float confidence = lists->rules->at[first + lists->packed[place] - 1].confidence;
    return lists->one_plus ? 1 + confidence : confidence;
}

/* The graph must stay where it is as long as the lists are used. */
kith_status kith__neighbor_lists_new(kith__neighbor_lists **lists, const kith_graph *graph,
                                     const kith__implications *rules, const kith_settings *settings,
                                     kith_error *error);
void kith__neighbor_lists_free(kith__neighbor_lists *lists);

/* Lists of the seen entities with at most `cap` neighbours each, none of which is there before the
 * first draw. Entities that are not seen have none. */
kith_status kith__neighbor_lists_capped(kith__neighbor_lists **capped,
                                        const kith__neighbor_lists *lists, size_t cap,
                                        kith_error *error);
/* Draw anew which of the neighbours in `lists` they are, in the same order. */
void kith__neighbor_lists_draw(kith__neighbor_lists *capped, const kith__neighbor_lists *lists,
                               uint64_t seed);

/* Keep denominators in half the room; they stay the same to the last bit, but take longer to read.
 * Nothing is changed where memory is short or the relations are too many. */
void kith__neighbor_lists_pack(kith__neighbor_lists *lists, const kith__implications *rules,
                               const kith_settings *settings, kith__pool *pool);

/* How many neighbours at most the settings keep. */
size_t kith__list_cap(const kith_settings *settings);
/* Cut the list of one entity's neighbours to what the settings keep, in place, and set the
 * denominators (or NULL) that the whole list gives; returns how many are left. `kept` is scratch of
 * `count` bytes, `relations` of 2m, all 0 before and after. */
size_t kith__list_cut(kith_neighbor *at, float *denominator, size_t count, uint32_t entity,
                      const kith__implications *rules, const kith_settings *settings, uint8_t *kept,
                      uint8_t *relations);

/* The denominators for a list of neighbours given as they come, one after the other. `relations` is
 * scratch of 2m bytes, all 0 before and after. */
void kith__logic_denominators(float *denominator, const kith_neighbor *at, size_t count,
                              const kith__implications *rules, const kith_settings *settings,
                              uint8_t *relations);

#endif
