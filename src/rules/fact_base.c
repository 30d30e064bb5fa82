#include "rules/fact_base.h"

#include <math.h>

#include "core/mem.h"
#include "rules/relation_table.h"

/* Unused tables may take this much memory; LEAST_TABLES are kept in any case. */
enum { MOST_BYTES = 16 << 20, LEAST_TABLES = 4 };

static int add_degrees(kith__fact_base *b)
{
    const kith__index *x = b->index;

    b->log_degree = kith__alloc(x->entities, sizeof *b->log_degree);
    for (uint32_t e = 0; b->log_degree && e < x->entities; e++)
        b->log_degree[e] = logf(1 + (float)(x->offset[e + 1] - x->offset[e]));
    return b->log_degree ? 0 : -1;
}

kith_status kith__fact_base_new(kith__fact_base **out, const kith_graph *graph, bool with_aux,
                                kith__pool *pool, kith_error *error)
{
    kith__fact_base *b = kith__calloc(1, sizeof *b);
    kith_status status = KITH_OK;

    if (!b)
        return kith__no_memory(error);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->made, NULL);
    TRY(with_aux ? kith__index_new_with_aux(&b->index, graph, pool, error)
                 : kith__index_new(&b->index, graph, pool, error));
    b->table = kith__calloc(2 * (size_t)b->index->relations, sizeof(void *));
    if (!b->table || add_degrees(b))
        TRY(kith__no_memory(error));
    b->most_tables = MOST_BYTES / (kith__relation_table_bytes(b->index) + 1);
    if (b->most_tables < LEAST_TABLES)
        b->most_tables = LEAST_TABLES;
    *out = b;
    b = NULL;
cleanup:
    kith__fact_base_free(b);
    return status;
}

void kith__fact_base_learn(kith__fact_base *b, kith__index *from)
{
    kith__index_free(b->learned);
    b->learned = from;
}

void kith__fact_base_free(kith__fact_base *b)
{
    if (!b)
        return;
    for (size_t i = 0; b->table && i < 2 * (size_t)b->index->relations; i++)
        kith__relation_table_free(b->table[i]);
    kith__free(b->table);
    kith__free(b->log_degree);
    kith__index_free(b->index);
    kith__index_free(b->learned);
    pthread_cond_destroy(&b->made);
    pthread_mutex_destroy(&b->lock);
    kith__free(b);
}

/* ---- tables: everything except creating one is done with the lock held ---- */

static kith__relation_table **place_of(kith__fact_base *b, const kith__relation_table *t)
{
    return &b->table[2 * (size_t)t->relation + t->unseen];
}

static void drop_oldest(kith__fact_base *b)
{
    kith__relation_table *oldest = NULL;

    for (size_t i = 0; i < 2 * (size_t)b->index->relations; i++)
        if (b->table[i] && b->table[i]->users == 0 && (!oldest || b->table[i]->used < oldest->used))
            oldest = b->table[i];
    if (!oldest)
        return;
    *place_of(b, oldest) = NULL;
    b->tables--;
    kith__relation_table_free(oldest);
}

/* A placeholder for a table that is being built; other threads wait for it. */
static kith__relation_table *promise(kith__fact_base *b, uint32_t relation, bool unseen)
{
    kith__relation_table *t = kith__calloc(1, sizeof *t);

    if (!t)
        return NULL;
    while (b->tables >= b->most_tables) {
        size_t before = b->tables;
        drop_oldest(b);
        if (b->tables == before)
            break;
    }
    t->relation = relation;
    t->unseen = unseen;
    t->users = 1;
    *place_of(b, t) = t;
    b->tables++;
    return t;
}

/* Replace the placeholder's content by the finished table, or remove the placeholder if that
 * failed. */
static kith__relation_table *keep(kith__fact_base *b, kith__relation_table *promised,
                                  kith__relation_table *made)
{
    size_t users = promised->users;

    if (made) {
        *promised = *made;
        promised->users = users;
        promised->made = true;
        kith__free(made);
        return promised;
    }
    if (*place_of(b, promised) == promised) {
        *place_of(b, promised) = NULL;
        b->tables--;
    }
    if (--promised->users == 0)
        kith__relation_table_free(promised);
    return NULL;
}

kith_status kith__fact_base_take(const kith__relation_table **out, kith__fact_base *b,
                                 uint32_t relation, bool unseen, kith_error *error)
{
    kith__relation_table **place = &b->table[2 * (size_t)relation + unseen], *t;

    pthread_mutex_lock(&b->lock);
    t = *place;
    if (t) {
        t->users++;
        while (!t->made && *place == t)
            pthread_cond_wait(&b->made, &b->lock);
        if (!t->made) /* the thread that was building it ran out of memory */
            t = keep(b, t, NULL);
    } else if ((t = promise(b, relation, unseen))) {
        pthread_mutex_unlock(&b->lock);
        kith__relation_table *made =
            kith__relation_table_new(b->index, b->learned, relation, unseen);
        pthread_mutex_lock(&b->lock);
        t = keep(b, t, made);
        pthread_cond_broadcast(&b->made);
    }
    if (t)
        t->used = ++b->clock;
    pthread_mutex_unlock(&b->lock);
    *out = t;
    return t ? KITH_OK : kith__no_memory(error);
}

void kith__fact_base_give(kith__fact_base *b, const kith__relation_table *table)
{
    if (!table)
        return;
    pthread_mutex_lock(&b->lock);
    (*place_of(b, table))->users--;
    pthread_mutex_unlock(&b->lock);
}
