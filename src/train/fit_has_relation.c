#include "train/fit_has_relation.h"

#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "nn/logistic.h"

/* Relations with hardly any evidence are skipped, because they are unlikely with any weights. */
enum { MOST_ENTITIES = 2000, MOST_SAMPLES = 400000 };
_Static_assert((int)KITH__HAS_INPUTS <= (int)KITH__MOST_LOGISTIC, "a sample holds all inputs");

typedef struct {
    const kith__relation_counts *counts;
    const kith__index *index;
    kith__rng rng;
    kith_neighbor *known; /* of the current entity, sorted */
    size_t known_capacity;
    /* Per relation: whether the current entity has a known fact, any fact included in the counts,
     * and a hidden fact. */
    uint8_t *has, *counted, *hidden;
    kith__sample *samples;
    size_t count, capacity;
} fitting;

/* Keep a random share of an entity's facts, but at least one; returns their number. */
static size_t hide_some(fitting *f, kith__span facts)
{
    double share = kith__hidden_share(&f->rng);
    size_t kept = 0;

    for (size_t i = 0; i < facts.count; i++) {
        uint32_t r = facts.at[i].relation;
        f->counted[r] = 1;
        if (kith__rng_unit(&f->rng) < share) {
            f->hidden[r] = 1;
            continue;
        }
        f->known[kept++] = facts.at[i];
        f->has[r] = 1;
    }
    return kept;
}

static void forget(fitting *f, uint32_t r)
{
    f->counted[r] = f->hidden[r] = f->has[r] = 0;
}

static bool worth_a_sample(const double x[KITH__HAS_INPUTS])
{
    static const double low = -5.29; /* the log-odds of .005 */

    return x[2] > 0 || x[6] > low || x[7] > low;
}

/* `counted` are the facts of the entity that the counts include. */
static int add_samples(fitting *f, size_t kept, kith__span counted)
{
    kith__known_facts known = {{f->known, kept}, f->has, counted.count > 0 ? f->counted : NULL};

    for (uint32_t r = 0; r < f->index->relations && f->count < MOST_SAMPLES; r++) {
        double x[KITH__HAS_INPUTS];
        kith__has_inputs(x, f->counts, &known, kith__span_of(counted, r).count, r);
        if (!worth_a_sample(x) && !f->hidden[r])
            continue;
        if (kith__reserve(&f->samples, &f->capacity, f->count + 1, sizeof *f->samples))
            return -1;
        kith__sample *sample = &f->samples[f->count++];
        memset(sample, 0, sizeof *sample);
        memcpy(sample->x, x, sizeof x);
        sample->truth = f->hidden[r];
    }
    return 0;
}

/* Half of the entities are drawn uniformly. The other half are drawn as ends of random facts, which
 * favours entities with many facts, like the unseen entities of data sets. */
static uint32_t draw_entity(fitting *f, size_t turn)
{
    const kith__index *x = f->index;
    uint64_t place;
    uint32_t low = 0, high = x->seen;

    if (turn % 2 == 0)
        return (uint32_t)kith__rng_below(&f->rng, x->seen);
    place = kith__rng_below(&f->rng, x->offset[x->seen]);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (x->offset[middle] <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Add samples of an entity of train, which is excluded from the counts; -1 if out of memory. */
static int collect_seen(fitting *f, kith__has_relation *model, uint32_t entity)
{
    kith__span facts = kith__facts_of(f->index, entity);

    if (kith__renew(&f->known, &f->known_capacity, facts.count, sizeof *f->known))
        return -1;
    size_t kept = hide_some(f, facts);
    int failed = kept > 0 && add_samples(f, kept, facts);
    model->entities += kept > 0;
    for (size_t i = 0; i < facts.count; i++)
        forget(f, facts.at[i].relation);
    return failed;
}

/* Add samples of a held-out entity; -1 if out of memory. */
static int collect_held_out(fitting *f, kith__has_relation *model,
                            const kith__described_fact *facts, size_t count)
{
    size_t kept = 0;

    if (kith__renew(&f->known, &f->known_capacity, count, sizeof *f->known))
        return -1;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = facts[i].neighbor.relation;
        (facts[i].hidden ? f->hidden : f->has)[r] = 1;
        if (!facts[i].hidden)
            f->known[kept++] = facts[i].neighbor;
    }
    int failed = add_samples(f, kith__sort_facts(f->known, kept), (kith__span){NULL, 0});
    model->entities++;
    for (size_t i = 0; i < count; i++)
        forget(f, facts[i].neighbor.relation);
    return failed;
}

static int collect(fitting *f, kith__has_relation *model, const kith__descriptions *held_out)
{
    size_t wanted = f->index->seen < MOST_ENTITIES ? f->index->seen : MOST_ENTITIES;

    for (size_t i = 0; held_out && i < held_out->count; i++)
        if (collect_held_out(f, model, held_out->facts + held_out->first[i],
                             held_out->first[i + 1] - held_out->first[i]))
            return -1;
    for (size_t turn = 0; turn < 2 * wanted && model->entities < wanted; turn++)
        if (collect_seen(f, model, draw_entity(f, turn)))
            return -1;
    return 0;
}

kith_status kith__has_relation_fit(kith__has_relation *model, const kith__relation_counts *counts,
                                   const kith__index *index, const kith__descriptions *held_out,
                                   uint64_t seed, kith_error *error)
{
    fitting f = {.counts = counts, .index = index};
    double ridge[KITH__HAS_INPUTS];
    kith_status status = KITH_OK;

    *model = (kith__has_relation){.fitted = false};
    if (index->seen == 0 || index->offset[index->seen] == 0)
        return KITH_OK;
    kith__rng_init(&f.rng, seed, UINT64_C(1) << 45);
    f.has = kith__calloc(index->relations, 1);
    f.counted = kith__calloc(index->relations, 1);
    f.hidden = kith__calloc(index->relations, 1);
    if (!f.has || !f.counted || !f.hidden || collect(&f, model, held_out))
        TRY(kith__no_memory(error));
    /* Start from weights that use the counts unchanged. */
    model->weight[4] = model->weight[7] = 1;
    for (int k = 0; k < KITH__HAS_INPUTS; k++)
        ridge[k] = 1;
    kith__logistic_fit(model->weight, KITH__HAS_INPUTS, ridge, f.samples, f.count);
    model->samples = (uint32_t)f.count;
    model->fitted = f.count > 0;
cleanup:
    kith__free(f.known);
    kith__free(f.has);
    kith__free(f.counted);
    kith__free(f.hidden);
    kith__free(f.samples);
    return status;
}
