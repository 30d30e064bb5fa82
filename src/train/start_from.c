#include "train/start_from.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "model/new_inputs.h"
#include "run/has_relation_file.h"
#include "run/overall_file.h"

enum { MOST_ROUNDS = 4 };
#define NONE UINT32_MAX

typedef struct {
    kith_model *model;
    const kith_model *old;
    uint32_t *entity;   /* per seen entity, its id in the earlier run; NONE if it was not there */
    uint32_t *relation; /* per directed relation: the same */
    uint8_t *known;     /* per seen entity: whether its row is set */
} matching;

/* ---- checking the settings ---- */

/* Check the settings that determine which parameters there are and what they mean. */
static kith_status check_settings(const kith_settings *s, const kith_model *old, const char *folder,
                                  kith_error *error)
{
    static const char *const same[] = {"aggregator", "decoder", "dim", "reciprocal"};
    char here[64], there[64];

    if (!kith__model_embeds(old))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: has rules only, and no embedding to start from", folder);
    if (s->evidence == KITH_EVIDENCE_RULES)
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "the new run has rules only (--evidence rules, as in --preset rules), "
                          "and no embedding that could start from %s", folder);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        kith_settings_get(here, sizeof here, s, same[i]);
        kith_settings_get(there, sizeof there, &old->settings, same[i]);
        if (strcmp(here, there) != 0)
            return kith__fail(error, KITH_ERR_ARGUMENT,
                              "%s: has %s %s, and the new run %s; to start from it, both must be "
                              "the same",
                              folder, same[i], there, here);
    }
    return KITH_OK;
}

/* Tables of fixed size, such as the attention layer's, have the same size in both, or neither has
 * them. */
static kith_status check_tables(const kith_model *model, const kith_model *old, const char *folder,
                                kith_error *error)
{
    for (size_t i = 0; i < model->params.tables; i++) {
        const kith__table *to = &model->params.table[i];
        const kith__table *from = kith__params_find(&old->params, to->spec->name);
        bool by_name = to->spec->rows == KITH__ENTITIES || to->spec->rows == KITH__RELATIONS ||
                       to->spec->rows == KITH__DIRECTED || to->spec->rows == KITH__ENTITY_ROWS ||
                       to->spec->rows == KITH__PAIR_ROWS;
        if (!from || from->cols != to->cols || (!by_name && from->rows != to->rows))
            return kith__fail(
                error, KITH_ERR_ARGUMENT,
                "%s: its table '%s' has a different shape; to start from it, give the "
                "settings that it was trained with (kith info %s)",
                folder, to->spec->name, folder);
    }
    return KITH_OK;
}

/* ---- names ---- */

static size_t match_entities(matching *m)
{
    uint32_t rows = (uint32_t)kith__ent(&m->old->params)->rows, id;
    size_t found = 0;

    for (uint32_t e = 0; e < m->model->lists->seen; e++) {
        const char *name = kith_graph_entity_name(m->model->graph, e);
        m->entity[e] = NONE;
        if (kith_graph_find_entity(&id, m->old->graph, name) == KITH_OK && id < rows) {
            m->entity[e] = id;
            m->known[e] = 1;
            found++;
        }
    }
    return found;
}

static size_t match_relations(matching *m)
{
    uint32_t count = m->model->lists->relations / 2, old = m->old->lists->relations / 2, id;
    size_t found = 0;

    for (uint32_t r = 0; r < count; r++) {
        const char *name = kith_graph_relation_name(m->model->graph, r);
        m->relation[r] = m->relation[r + count] = NONE;
        if (kith_graph_find_relation(&id, m->old->graph, name) == KITH_OK && id < old) {
            m->relation[r] = id;
            m->relation[r + count] = id + old;
            found++;
        }
    }
    return found;
}

/* ---- tables ---- */

static void copy_row(const kith__table *to, size_t row, const kith__table *from, size_t old)
{
    memcpy(kith__row(to, row), kith__row(from, old), to->stride * sizeof *to->at);
}

/* Lists of numbers are stored in whole rows without padding. */
static float *number_at(const kith__table *table, size_t index)
{
    return table->at + index;
}

static void copy_entities(const matching *m, const kith__table *to, const kith__table *from)
{
    for (uint32_t e = 0; e < m->model->lists->seen; e++)
        if (m->entity[e] != NONE && to->spec->rows == KITH__ENTITIES)
            copy_row(to, e, from, m->entity[e]);
        else if (m->entity[e] != NONE)
            *number_at(to, e) = *number_at(from, m->entity[e]);
}

static void copy_relations(const matching *m, const kith__table *to, const kith__table *from)
{
    for (uint32_t r = 0; r < to->rows; r++)
        if (m->relation[r] != NONE)
            copy_row(to, r, from, m->relation[r]);
}

/* Copy the parameters of the rules that imply one query: `place` is scratch per relation of the
 * earlier run, all 0 before and after. */
static void copy_pairs_of(const matching *m, const kith__table *to, const kith__table *from,
                          uint32_t query, uint32_t *place)
{
    const kith__implications *rules = m->model->rules, *old = m->old->rules;
    uint32_t before = m->relation[query];

    for (uint64_t i = old->offset[before]; i < old->offset[before + 1]; i++)
        place[old->at[i].relation] = (uint32_t)(i + 1);
    for (uint64_t i = rules->offset[query]; i < rules->offset[query + 1]; i++) {
        uint32_t relation = m->relation[rules->at[i].relation];
        if (relation != NONE && place[relation])
            *number_at(to, i) = *number_at(from, place[relation] - 1);
    }
    for (uint64_t i = old->offset[before]; i < old->offset[before + 1]; i++)
        place[old->at[i].relation] = 0;
    *number_at(to, rules->offset[rules->relations] + query) =
        *number_at(from, old->offset[old->relations] + before);
}

static int copy_pairs(const matching *m, const kith__table *to, const kith__table *from)
{
    uint32_t *place = kith__calloc(m->old->lists->relations, sizeof *place);

    if (!place)
        return -1;
    for (uint32_t q = 0; q < m->model->lists->relations; q++)
        if (m->relation[q] != NONE)
            copy_pairs_of(m, to, from, q, place);
    kith__free(place);
    return 0;
}

static int copy_tables(const matching *m)
{
    for (size_t i = 0; i < m->model->params.tables; i++) {
        const kith__table *to = &m->model->params.table[i];
        const kith__table *from = kith__params_find(&m->old->params, to->spec->name);
        switch (to->spec->rows) {
        case KITH__ENTITIES:
        case KITH__ENTITY_ROWS:
            copy_entities(m, to, from);
            break;
        case KITH__RELATIONS:
        case KITH__DIRECTED:
            copy_relations(m, to, from);
            break;
        case KITH__PAIR_ROWS:
            if (copy_pairs(m, to, from))
                return -1;
            break;
        default:
            memcpy(to->at, from->at, to->rows * to->stride * sizeof *to->at);
        }
    }
    return 0;
}

/* ---- new entities ---- */

/* Whether a neighbour's row and relation were learned, or set in an earlier round. */
static bool is_known(const matching *m, kith_neighbor n)
{
    return n.entity < m->model->lists->seen && m->known[n.entity] &&
           m->relation[n.relation] != NONE;
}

/* Lists for entities without a row: their neighbours that have one. Other entities have no list. */
static kith__neighbor_lists *known_neighbors(const matching *m)
{
    const kith__neighbor_lists *all = m->model->lists;
    kith__neighbor_lists *some = kith__calloc(1, sizeof *some);
    bool divides = all->denominator || all->packed;
    size_t used = 0, most = 0;

    if (!some)
        return NULL;
    for (uint32_t e = 0; e < all->seen; e++)
        most += m->known[e] ? 0 : kith__list_count(all, e);
    some->entities = all->entities;
    some->seen = all->seen;
    some->relations = all->relations;
    some->cap = SIZE_MAX;
    some->offset = some->own_offset =
        kith__calloc((size_t)all->entities + 1, sizeof *some->own_offset);
    some->at = some->own_at = kith__alloc(most + 1, sizeof *some->own_at);
    some->denominator = divides ? kith__alloc(most + 1, sizeof *some->denominator) : NULL;
    if (!some->own_offset || !some->own_at || (divides && !some->denominator)) {
        kith__neighbor_lists_free(some);
        return NULL;
    }
    for (uint32_t e = 0; e < all->entities; e++) {
        bool wanted = e < all->seen && !m->known[e];
        for (size_t k = 0; wanted && k < kith__list_count(all, e); k++) {
            uint64_t place = all->offset[e] + k;
            if (!is_known(m, all->at[place]))
                continue;
            if (divides)
                some->denominator[used] = kith__denominator(all, place);
            some->own_at[used++] = all->at[place];
        }
        some->own_offset[e + 1] = used;
    }
    return some;
}

static size_t mark_known(matching *m, const kith__neighbor_lists *lists)
{
    size_t found = 0;

    for (uint32_t e = 0; e < lists->seen; e++)
        if (lists->offset[e + 1] > lists->offset[e]) {
            m->known[e] = 1;
            found++;
        }
    return found;
}

/* Entities that are linked to entities with a row, then those linked to these, and so on. The
 * others keep their random initial values. */
static kith_status start_new_entities(matching *m, kith_error *error)
{
    kith__neighbor_lists *lists = NULL;
    kith_status status = KITH_OK;
    size_t found = 1;

    for (int round = 0; round < MOST_ROUNDS && found > 0; round++) {
        lists = known_neighbors(m);
        if (!lists)
            TRY(kith__no_memory(error));
        TRY(kith__encode_rows(kith__ent(&m->model->params), m->model, lists, error));
        found = mark_known(m, lists);
        kith__neighbor_lists_free(lists);
        lists = NULL;
    }
cleanup:
    kith__neighbor_lists_free(lists);
    return status;
}

/* ---- the fusion ---- */

static int by_query(const void *a, const void *b)
{
    const kith__own_weights *x = a, *y = b;
    return (x->query > y->query) - (x->query < y->query);
}

/* Relations that the new graph lacks lose their own weights. */
static kith_status carry_weights(kith__fusion *to, const kith__fusion *from, const matching *m,
                                 kith_error *error)
{
    *to = *from;
    to->own_count = 0;
    to->own = kith__alloc(from->own_count + 1, sizeof *to->own);
    if (!to->own)
        return kith__no_memory(error);
    for (uint32_t q = 0; q < m->model->lists->relations; q++)
        for (uint32_t i = 0; m->relation[q] != NONE && i < from->own_count; i++)
            if (from->own[i].query == m->relation[q]) {
                to->own[to->own_count] = from->own[i];
                to->own[to->own_count++].query = q;
            }
    qsort(to->own, to->own_count, sizeof *to->own, by_query);
    return KITH_OK;
}

/* Probabilities are computed from features and counts, so what they were learned from an earlier
 * graph holds for a grown one. */
static kith_status carry_fusion(kith__carried *carried, const matching *m, const char *folder,
                                kith_error *error)
{
    kith__fitted_fusion other = {0};
    kith_status status;

    TRY(carry_weights(&carried->fusion.fusion, &m->old->fused->fusion, m, error));
    carried->fusion.calibration = m->old->calibration;
    carried->has = m->old->has;
    carried->overall = m->old->overall;
    carried->fused = true;
    TRY(kith__fusion_for_new_graphs(&other, &carried->for_new_graphs, folder, error));
    if (carried->for_new_graphs)
        TRY(carry_weights(&carried->new_graphs.fusion, &other.fusion, m, error));
    carried->new_graphs.calibration = other.calibration;
cleanup:
    kith__fusion_release(&other.fusion);
    return status;
}

kith_status kith__carried_save(const char *folder, const kith__carried *carried, kith_error *error)
{
    kith_status status = KITH_OK;

    if (!carried->fused)
        return KITH_OK;
    if (carried->has.fitted)
        TRY(kith__has_relation_save(folder, &carried->has, error));
    if (carried->overall.fitted)
        TRY(kith__overall_save(folder, &carried->overall, error));
    TRY(kith__carried_fusion_save(folder, &carried->fusion,
                                  carried->for_new_graphs ? &carried->new_graphs : NULL, error));
cleanup:
    return status;
}

void kith__carried_release(kith__carried *carried)
{
    kith__fusion_release(&carried->fusion.fusion);
    kith__fusion_release(&carried->new_graphs.fusion);
    memset(carried, 0, sizeof *carried);
}

kith_status kith__start_from(kith__carried *carried, kith_model *model, const char *folder,
                             const kith_work_options *options, kith_error *error)
{
    matching m = {.model = model};
    kith_model *old = NULL;
    kith_status status;

    memset(carried, 0, sizeof *carried);
    TRY(kith_model_open(&old, folder, options, error));
    TRY(check_settings(&model->settings, old, folder, error));
    TRY(check_tables(model, old, folder, error));
    m.old = old;
    m.entity = kith__alloc(model->lists->seen, sizeof *m.entity);
    m.relation = kith__alloc(model->lists->relations, sizeof *m.relation);
    m.known = kith__calloc(model->lists->seen, sizeof *m.known);
    if (!m.entity || !m.relation || !m.known)
        TRY(kith__no_memory(error));
    if (match_entities(&m) == 0 || match_relations(&m) == 0)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "%s: has no entity or no relation in common with the new graph, by name",
                       folder));
    if (copy_tables(&m))
        TRY(kith__no_memory(error));
    TRY(start_new_entities(&m, error));
    if (old->fused && model->settings.evidence == old->settings.evidence)
        TRY(carry_fusion(carried, &m, folder, error));
cleanup:
    kith__free(m.entity);
    kith__free(m.relation);
    kith__free(m.known);
    kith_model_free(old);
    return status;
}
