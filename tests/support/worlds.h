/* Small random graphs with a table of all triples, for brute force over rules. */
#ifndef KITH_TESTS_WORLDS_H
#define KITH_TESTS_WORLDS_H

#include "core/pool.h"
#include "rules/evidence.h"
#include "support.h"

/* A graph, and which triples its index must have: fact[(r * entities + s) * entities + o]. */
typedef struct {
    kith_graph *graph;
    kith__pool *pool;
    kith__evidence *evidence;
    uint32_t relations, seen, entities; /* relations: 2m */
    uint8_t *fact;
} world;

uint8_t *mark_of(const world *w, uint32_t r, uint32_t s, uint32_t o);
bool is_fact(const world *w, uint32_t r, uint32_t s, uint32_t o);
bool has_relation(const world *w, uint32_t r, uint32_t s);
void world_open(world *w, const char *path, unsigned threads);
void world_close(world *w);
const char *world_folder(kith__rng *rng, unsigned entities, unsigned relations, unsigned facts);
void random_world(world *w, kith__rng *rng);
void in_worlds(uint64_t seed, void (*check)(world *w, kith__rng *rng));

/* r(s, o) and q(s, o) are one fact: a loop, which way it is read. */
bool is_same_fact(const world *w, uint32_t q, uint32_t r, uint32_t s, uint32_t o);

const kith__rule *find_rule(const kith__rules *p, uint32_t q, uint32_t first, uint32_t second);
void check_same_rules(const kith__rule_set *a, const kith__rule_set *b);
void ask_rules(kith__evidence_query *a, kith__span facts, uint32_t self, uint32_t query);
void query_open(kith__evidence_query *a, const world *w);
const float *query_row(const kith__evidence_query *a, uint32_t entity);
uint32_t world_entity(const world *w, const char *name);

#endif
