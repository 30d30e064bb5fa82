#include "graph/make/descriptions.h"

#include <string.h>

#include "core/mem.h"

enum { LEAST_FACTS = 2 };

/* The newcomer of a usable fact, and the fact from its side; KITH__NO_ID for other facts. */
static uint32_t newcomer_of(kith_neighbor *seen_so, const kith_graph *g, const kith_facts *facts,
                            size_t i)
{
    kith_triple t = facts->at[i];
    bool subject = t.subject >= g->seen_entities;
    uint32_t other = subject ? t.object : t.subject;

    if (t.relation >= g->seen_relations || other >= g->seen_entities ||
        (!subject && t.object < g->seen_entities) || (facts->truth && facts->truth[i] == 0))
        return KITH__NO_ID;
    *seen_so = (kith_neighbor){t.relation + (subject ? 0 : g->seen_relations), other};
    return subject ? t.subject : t.object;
}

static const kith_split described_in[] = {KITH_AUX, KITH_TEST};

static void count_facts(uint32_t *count, const kith_graph *g)
{
    for (int s = 0; s < 2; s++) {
        kith_facts facts = kith_graph_facts(g, described_in[s]);
        for (size_t i = 0; i < facts.count; i++) {
            kith_neighbor seen_so;
            uint32_t e = newcomer_of(&seen_so, g, &facts, i);
            if (e != KITH__NO_ID)
                count[e - g->seen_entities]++;
        }
    }
}

/* Fill in the facts of each description. `place`, per unseen entity, is its index among the chosen
 * ones, or KITH__NO_ID. */
static void place_facts(kith__descriptions *d, const kith_graph *g, const uint32_t *place)
{
    for (int s = 0; s < 2; s++) {
        kith_facts facts = kith_graph_facts(g, described_in[s]);
        for (size_t i = 0; i < facts.count; i++) {
            kith_neighbor seen_so;
            uint32_t e = newcomer_of(&seen_so, g, &facts, i);
            if (e == KITH__NO_ID || place[e - g->seen_entities] == KITH__NO_ID)
                continue;
            for (size_t k = place[e - g->seen_entities]; k < d->count; k += d->distinct)
                d->facts[d->first[k]++] = (kith__described_fact){seen_so, false};
        }
    }
    memmove(d->first + 1, d->first, d->count * sizeof *d->first);
    d->first[0] = 0;
}

static void hide(kith__described_fact *facts, size_t count, kith__rng *rng)
{
    double share = kith__hidden_share(rng);
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        facts[i].hidden = kith__rng_unit(rng) < share;
        kept += !facts[i].hidden;
    }
    if (kept == 0)
        facts[kith__rng_below(rng, count)].hidden = false;
}

/* Shuffle the entities, then keep the first ones with enough facts. */
static void draw(kith__descriptions *d, const kith_graph *g, const uint32_t *count,
                 const kith__description_options *o, kith__rng *rng)
{
    uint32_t seen = g->seen_entities, unseen = g->entities.count - seen;

    kith__rng_order(rng, d->entities, unseen);
    for (uint32_t i = 0; i < unseen && d->distinct < o->most; i++) {
        uint32_t e = seen + d->entities[i];
        if (count[e - seen] >= LEAST_FACTS && (!o->is_wanted || o->is_wanted(e)))
            d->entities[d->distinct++] = e;
    }
}

static int repeat(kith__descriptions *d, size_t capacity, const kith__description_options *o)
{
    size_t times = d->distinct > 0 ? o->most / d->distinct : 1;

    times = times < o->times ? times : o->times;
    d->count = times * d->distinct;
    if (kith__reserve(&d->entities, &capacity, d->count, sizeof *d->entities))
        return -1;
    for (size_t i = d->distinct; i < d->count; i++)
        d->entities[i] = d->entities[i - d->distinct];
    return 0;
}

/* Set where the facts of each description begin; returns where the last ones end. */
static size_t lay_out(kith__descriptions *d, uint32_t *place, const uint32_t *count, uint32_t seen)
{
    size_t total = 0;

    for (size_t i = 0; i < d->count; i++) {
        if (i < d->distinct)
            place[d->entities[i] - seen] = (uint32_t)i;
        d->first[i] = total;
        total += count[d->entities[i] - seen];
    }
    return total;
}

kith_status kith__descriptions_init(kith__descriptions *d, const kith_graph *g,
                                    const kith__description_options *options, kith_error *error)
{
    uint32_t seen = g->seen_entities, unseen = g->entities.count - seen;
    uint32_t *count = kith__calloc(unseen, sizeof *count);
    uint32_t *place = kith__alloc(unseen, sizeof *place);
    kith__rng rng;
    kith_status status = KITH_OK;

    *d = (kith__descriptions){.entities = kith__alloc(unseen, sizeof *d->entities)};
    kith__rng_init(&rng, options->seed, UINT64_C(1) << 46);
    if (!count || !place || !d->entities)
        TRY(kith__no_memory(error));
    count_facts(count, g);
    draw(d, g, count, options, &rng);
    if (repeat(d, unseen, options) || !(d->first = kith__calloc(d->count + 1, sizeof *d->first)))
        TRY(kith__no_memory(error));
    memset(place, 0xff, unseen * sizeof *place);
    if (!(d->facts = kith__alloc(lay_out(d, place, count, seen), sizeof *d->facts)))
        TRY(kith__no_memory(error));
    place_facts(d, g, place);
    for (size_t i = 0; i < d->count; i++)
        hide(d->facts + d->first[i], d->first[i + 1] - d->first[i], &rng);
cleanup:
    kith__free(count);
    kith__free(place);
    if (status != KITH_OK)
        kith__descriptions_release(d);
    return status;
}

void kith__descriptions_release(kith__descriptions *d)
{
    kith__free(d->entities);
    kith__free(d->first);
    kith__free(d->facts);
    memset(d, 0, sizeof *d);
}
