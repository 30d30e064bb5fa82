#include "model/idle_pools.h"

#include <string.h>

kith__pool *kith__model_take_pool(const kith_model *shown, unsigned threads)
{
    kith_model *model = (kith_model *)shown; /* its lock guards what is changed here */
    unsigned wanted = kith__pool_wanted(threads);
    kith__pool *pool = NULL;

    pthread_mutex_lock(&model->lock);
    for (size_t i = 0; i < model->idle_count && !pool; i++)
        if (kith__pool_size(model->idle[i]) == wanted) {
            pool = model->idle[i];
            model->idle[i] = model->idle[--model->idle_count];
        }
    pthread_mutex_unlock(&model->lock);
    return pool ? pool : kith__pool_new(wanted);
}

void kith__model_give_pool(const kith_model *shown, kith__pool *pool)
{
    kith_model *model = (kith_model *)shown;
    kith__pool *dropped = NULL;

    if (!pool)
        return;
    kith__pool_set_watch(pool, NULL);
    pthread_mutex_lock(&model->lock);
    if (model->idle_count == KITH__IDLE_POOLS) {
        dropped = model->idle[0];
        memmove(model->idle, model->idle + 1, --model->idle_count * sizeof *model->idle);
    }
    model->idle[model->idle_count++] = pool;
    pthread_mutex_unlock(&model->lock);
    kith__pool_free(dropped);
}

void kith__idle_pools_free(kith_model *model)
{
    while (model->idle_count > 0)
        kith__pool_free(model->idle[--model->idle_count]);
}
