#include "session/answer.h"

#include <string.h>

#include "core/mem.h"

kith_status kith_session_encode(float *vector, kith_session *s, const char *entity,
                                const char *relation, int inverse, kith_error *error)
{
    if (!vector || !s)
        return kith__null_argument(error, __func__);

    const kith__question question = {
        {inverse ? NULL : entity, relation, inverse ? entity : NULL},
        {KITH__NO_ID, KITH__NO_ID, KITH__NO_ID}};
    kith__workspace *a = NULL;
    kith__resolved r;
    kith__query_entity queried;
    kith_status status = KITH_OK;

    if (!entity || !relation)
        TRY(kith__fail(error, KITH_ERR_ARGUMENT,
                       "a vector is that of an entity for a relation; the %s is missing",
                       entity ? "relation" : "entity"));
    TRY(kith__need_embedding(s->model, error));
    TRY(kith__resolve(&r, s, &question, KITH_ANSWERS_ALL, error));
    if (!(a = kith__workspace_take(s->cache)))
        TRY(kith__no_memory(error));
    TRY(kith__gather_facts(&queried, NULL, s, a, &r.entity, 1, error));
    TRY(kith__encode_entities(a, &queried, 1, r.query, error));
    memcpy(vector, kith__encoder_answer(a->encoder, 0), s->model->settings.dim * sizeof *vector);
cleanup:
    kith__workspace_give(s->cache, a);
    return status;
}
