/* Workspaces for answering: a thread takes one while it answers, from those that the model keeps,
 * and gives it back. */
#ifndef KITH_MODEL_WORKSPACE_H
#define KITH_MODEL_WORKSPACE_H

#include "model/candidate_cache.h"
#include "model/entity_encoder.h"

enum { KITH__QUERIES_TOGETHER = 16 };

typedef struct kith__workspace {
    const kith_model *model;
    kith__watch *watch; /* of the questions at hand; NULL: none */
    size_t candidates; /* the entities 0 .. candidates - 1 */
    size_t width;      /* of a row of scores: `candidates`, or with unseen ones more */
    uint32_t *unseen;  /* candidates too, by the questions at hand */
    size_t unseen_count, unseen_capacity;
    kith_neighbor *facts; /* of the entities at hand, uncut */
    size_t fact_count, fact_capacity;
    kith_neighbor *sorted; /* the same, those of each entity sorted */
    size_t sorted_capacity;
    uint8_t *relations; /* 2m marks, all 0 between questions */
    float *scores;      /* of the questions at hand, one row each */
    size_t score_capacity;
    kith__shares shares[KITH__QUERIES_TOGETHER]; /* of each row */
    uint32_t *best;     /* candidates of one row of scores */
    size_t best_capacity;
    kith__fusion_workspace *fusion; /* NULL where the model has no rule evidence */
    kith__view known; /* the facts known now; no base where only seen neighbours count */
    /* Of the embedding, where the model has one. */
    kith__pool *pool;           /* of one thread */
    kith__entity_encoder entities;
    kith__encoder *encoder; /* that of `entities` */
    size_t stride; /* of vectors */
    float *query_vectors; /* of KITH__QUERIES_TOGETHER questions, and two more rows */
    float *block;         /* their scores in one panel of candidates */
    struct kith__workspace *next;
} kith__workspace;

/* One that nobody uses, made where there is none; NULL if out of memory. */
kith__workspace *kith__workspace_take(kith__candidate_cache *cache);
void kith__workspace_give(kith__candidate_cache *cache, kith__workspace *workspace);

void kith__workspaces_free(kith__workspace *workspaces);

/* How many questions of one query are scored together, at most KITH__QUERIES_TOGETHER: with an
 * embedding, several read the candidates' vectors once; but rows of scores take memory by the
 * number of entities. */
size_t kith__queries_at_once(const kith_model *model);

/* Room for the scores of `rows` questions; -1 if out of memory. */
int kith__workspace_reserve(kith__workspace *workspace, size_t rows);

#endif
