/* Workspaces for answering questions. The model keeps them; a thread borrows one while it answers
 * and returns it. */
#ifndef KITH_MODEL_WORKSPACE_H
#define KITH_MODEL_WORKSPACE_H

#include "model/candidate_cache.h"
#include "model/entity_encoder.h"

enum { KITH__QUERIES_TOGETHER = 16 };

typedef struct kith__workspace {
    const kith_model *model;
    kith__watch *watch; /* for the current questions; NULL: none */
    size_t candidates;  /* the entities 0 .. candidates - 1 */
    size_t width;     /* length of a row of scores: `candidates`, or more with unseen candidates */
    uint32_t *unseen; /* additional candidates of the current questions */
    size_t unseen_count, unseen_capacity;
    kith_neighbor *facts; /* of the current entities, uncut */
    size_t fact_count, fact_capacity;
    kith_neighbor *sorted; /* the same facts, sorted per entity */
    size_t sorted_capacity;
    uint8_t *relations; /* 2m marks, all 0 between questions */
    float *scores;      /* one row per current question */
    size_t score_capacity;
    kith__shares shares[KITH__QUERIES_TOGETHER]; /* one per row */
    uint32_t *best;                              /* best candidates of one row of scores */
    size_t best_capacity;
    uint8_t *groups; /* per candidate, while answers are listed (session/likeliest.c) */
    size_t group_capacity;
    kith__fusion_workspace *fusion; /* NULL if the model has no rule evidence */
    kith__view known; /* the current facts; without a base if only seen neighbours count */
    /* For the embedding, if the model has one. */
    kith__pool *pool; /* with one thread */
    kith__entity_encoder entities;
    kith__encoder *encoder; /* belongs to `entities` */
    size_t stride;          /* length of vectors in floats */
    float *query_vectors;   /* KITH__QUERIES_TOGETHER rows, and two more */
    float *block;           /* scores of these query vectors in one panel of candidates */
    struct kith__workspace *next;
} kith__workspace;

/* Take a workspace that is not in use, or a new one if all are; NULL if out of memory. */
kith__workspace *kith__workspace_take(kith__candidate_cache *cache);
void kith__workspace_give(kith__candidate_cache *cache, kith__workspace *workspace);

void kith__workspaces_free(kith__workspace *workspaces);

/* How many questions with the same query are scored together, at most KITH__QUERIES_TOGETHER. With
 * an embedding, scoring several reads the candidates' vectors only once; but each takes a row of
 * scores, so the number is lower if there are many entities. */
size_t kith__queries_at_once(const kith_model *model);

/* Reserve memory for the scores of `rows` questions; -1 if out of memory. */
int kith__workspace_reserve(kith__workspace *workspace, size_t rows);

#endif
