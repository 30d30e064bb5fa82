#include "session/answer.h"

#include <string.h>

#include "core/mem.h"

/* The neighbours that the model looks at, of each entity. */
static int cut_lists(kith__workspace *a, const kith__query_entity *asked, size_t count)
{
    const kith_model *model = a->model;
    kith__neighbor_lists *lists = &a->lists;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t need = used + asked[i].count;
        if (kith__reserve(&lists->own_at, &a->at_capacity, need, sizeof *lists->own_at) ||
            kith__reserve(&a->kept, &a->kept_capacity, asked[i].count, 1) ||
            (model->rules && kith__reserve(&lists->denominator, &a->denominator_capacity, need,
                                           sizeof *lists->denominator)))
            return -1;
        if (asked[i].count > 0)
            memcpy(lists->own_at + used, asked[i].facts,
                   asked[i].count * sizeof *lists->own_at);
        lists->own_offset[i] = used;
        used += kith__list_cut(
            lists->own_at + used, model->rules ? lists->denominator + used : NULL, asked[i].count,
            asked[i].entity, model->rules, &model->settings, a->kept, a->relations);
    }
    lists->own_offset[count] = used;
    lists->at = lists->own_at;
    lists->entities = (uint32_t)count;
    return 0;
}

kith_status kith__encode_entities(kith__workspace *a, const kith__query_entity *asked,
                                  size_t count, uint32_t query, kith_error *error)
{
    if (cut_lists(a, asked, count))
        return kith__no_memory(error);
    kith__encoder_begin(a->encoder);
    for (size_t i = 0; i < count; i++)
        kith__encoder_request(a->encoder, (uint32_t)i, query, NULL);
    return kith__encoder_forward(a->encoder, error);
}

kith_status kith_session_encode(float *vector, kith_session *s, const char *entity,
                                const char *relation, int inverse, kith_error *error)
{
    kith_question question = {inverse ? NULL : entity, relation, inverse ? entity : NULL};
    kith__workspace *a = NULL;
    kith__resolved r;
    kith__query_entity asked;
    kith_status status = KITH_OK;

    if (!entity || !relation)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "a vector is that of an entity for a relation; the %s is missing",
                       entity ? "relation" : "entity"));
    TRY(kith__need_embedding(s->model, error));
    TRY(kith__resolve(&r, s, &question, error));
    if (!(a = kith__workspace_take(s->cache)))
        TRY(kith__no_memory(error));
    TRY(kith__gather_facts(&asked, NULL, s, a, &r.entity, 1, error));
    TRY(kith__encode_entities(a, &asked, 1, r.query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0), s->model->settings.dim * sizeof *vector);
cleanup:
    kith__workspace_give(s->cache, a);
    return status;
}
