/* The neighbours that the model uses: the graph's neighbourhoods cut to a cap, with relations
 * numbered 0..2m-1, and the denominators of the logic weight (paper, eq. 5). */
#ifndef KITH_EMBED_NEIGHBOR_LISTS_H
#define KITH_EMBED_NEIGHBOR_LISTS_H

#include "core/stages.h"
#include "embed/settings.h"
#include "rules/implication.h"

typedef struct kith__neighbor_lists {
    /* all entities of the graph: first the seen ones, then those with or without aux facts */
    uint32_t entities;
    uint32_t seen;      /* n */
    uint32_t relations; /* 2m */
    /* The list of entity e begins at at[offset[e]] and has at most `cap` entries. Both arrays are
     * the graph's own if possible: its first neighbours are used, and its relations are train's. */
    const uint64_t *offset;
    const kith_neighbor *at;
    size_t cap;
    uint64_t *own_offset; /* NULL if borrowed */
    kith_neighbor *own_at;
    /* parallel to `at`; NULL if the aggregator has no logic weight, or if packed: */
    float *denominator;
    /* the implication that determines the denominator, counted from 1 */
    uint16_t *packed;
    const kith__implications *rules; /* the implications of `packed` */
    bool one_plus;            /* whether 1 is added to their confidence */
    bool mapped;        /* the arrays belong to the mapped file */
    /* Neighbours with ids from `seen` are not entities but rows of these vectors, which replace
     * input embeddings; they are last in each list. Lists for training have none. */
    const float *vectors;
    uint32_t vector_count;
} kith__neighbor_lists;

static inline size_t kith__list_count(const kith__neighbor_lists *lists, uint32_t entity)
{
    size_t count = (size_t)(lists->offset[entity + 1] - lists->offset[entity]);
    return count < lists->cap ? count : lists->cap;
}

/* The denominator of the logic weight of the neighbour at a place in the lists. */
static inline float kith__denominator(const kith__neighbor_lists *lists, uint64_t place)
{
    if (lists->denominator)
        return lists->denominator[place];
    if (lists->packed[place] == 0) /* no implication, or one too weak to matter */
        return 1;
    uint64_t first = lists->rules->offset[lists->at[place].relation];
    float confidence = lists->rules->at[first + lists->packed[place] - 1].confidence;
    return lists->one_plus ? 1 + confidence : confidence;
}

/* The graph must outlive the lists. `watch` may be NULL. */
kith_status kith__neighbor_lists_new(kith__neighbor_lists **lists, const kith_graph *graph,
                                     const kith__implications *rules, const kith_settings *settings,
                                     kith__watch *watch, kith_error *error);
void kith__neighbor_lists_free(kith__neighbor_lists *lists);

/* Lists of the seen entities with at most `cap` neighbours each, empty until the first draw.
 * Entities that are not seen have none. */
kith_status kith__neighbor_lists_capped(kith__neighbor_lists **capped,
                                        const kith__neighbor_lists *lists, size_t cap,
                                        kith_error *error);
/* Draw again which neighbours of `lists` are kept, in the same order. */
void kith__neighbor_lists_draw(kith__neighbor_lists *capped, const kith__neighbor_lists *lists,
                               uint64_t seed);

/* Store denominators in half the memory; they stay the same to the last bit, but take longer to
 * read. Does nothing if out of memory or if there are too many relations. */
void kith__neighbor_lists_pack(kith__neighbor_lists *lists, const kith__implications *rules,
                               const kith_settings *settings, kith__pool *pool);

/* The settings' cap on neighbours. */
size_t kith__list_cap(const kith_settings *settings);
/* Cut the list of one entity's neighbours to what the settings keep, in place, and set the
 * denominators (or NULL) that the whole list gives; returns how many are left. `kept` is scratch of
 * `count` bytes, `relations` of 2m, all 0 before and after. */
size_t kith__list_cut(kith_neighbor *at, float *denominator, size_t count, uint32_t entity,
                      const kith__implications *rules, const kith_settings *settings, uint8_t *kept,
                      uint8_t *relations);

/* The denominators for a list of neighbours, in order. `relations` is scratch of 2m bytes, all 0
 * before and after. */
void kith__logic_denominators(float *denominator, const kith_neighbor *at, size_t count,
                              const kith__implications *rules, const kith_settings *settings,
                              uint8_t *relations);

#endif
