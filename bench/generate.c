/* Write a made-up knowledge graph with Zipf-like degrees, as TSV or N-Triples.
 *   bench-generate [-n FACTS] [-e ENTITIES] [-r RELATIONS] [-s SEED] [-t tsv|nt] FILE
 * Every fact is different, and every entity and relation occurs. The same arguments give the same
 * bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint64_t facts, entities, relations, seed;
    bool ntriples;
    const char *path;
} plan;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A rank below `count` with P(k) about k^(-3/4): the inverse of the distribution function k^(1/4).
 * The most common of a million entities then fills 3 % of all places. */
static uint64_t zipf(uint64_t *state, uint64_t count)
{
    double u = (double)(next(state) >> 11) * 0x1p-53;
    return (uint64_t)((double)count * u * u * u * u);
}

/* Ranks are spread over the ids, so that common entities are not adjacent: a multiplication that
 * maps 0..count-1 onto itself, because the factor is a prime that does not divide count. */
static uint64_t spread(uint64_t rank, uint64_t count)
{
    const uint64_t prime = 2654435761u, other = 2246822519u;
    return rank * (count % prime == 0 ? other : prime) % count;
}

/* ---- a set of facts, as numbers ---- */

typedef struct {
    uint64_t *slots; /* fact + 1; 0 is free */
    size_t mask;
} seen_facts;

static bool seen_init(seen_facts *seen, uint64_t facts)
{
    size_t slots = 16;

    while (slots < facts * 2)
        slots *= 2;
    seen->mask = slots - 1;
    seen->slots = calloc(slots, sizeof *seen->slots);
    return seen->slots != NULL;
}

/* Adds the fact; returns whether it is new. */
static bool seen_add(seen_facts *seen, uint64_t fact)
{
    uint64_t state = fact;
    size_t at = next(&state) & seen->mask;

    for (; seen->slots[at] != 0; at = (at + 1) & seen->mask)
        if (seen->slots[at] == fact + 1)
            return false;
    seen->slots[at] = fact + 1;
    return true;
}

/* ---- facts ---- */

typedef struct {
    uint64_t subject, relation, object;
} fact;

static fact draw(const plan *p, uint64_t index, uint64_t *state, bool again)
{
    uint64_t step = p->facts / p->entities;
    fact f = {spread(zipf(state, p->entities), p->entities), zipf(state, p->relations),
              spread(zipf(state, p->entities), p->entities)};

    /* Every entity is the subject, and every relation the relation, of at least one fact. */
    if (index % step == 0 && index / step < p->entities)
        f.subject = index / step;
    if (index < p->relations && !again)
        f.relation = index;
    return f;
}

static void write_fact(FILE *out, const plan *p, fact f)
{
    static const char *const forms[] = {
        "/m/0%05" PRIx64 "\t/domain%" PRIu64 "/type%" PRIu64 "/relation%" PRIu64 "\t/m/0%05" PRIx64
        "\n",
        "<http://example.org/m/0%05" PRIx64 "> <http://example.org/domain%" PRIu64 "/type%" PRIu64
        "/relation%" PRIu64 "> <http://example.org/m/0%05" PRIx64 "> .\n"};

    fprintf(out, forms[p->ntriples], f.subject, f.relation % 10, f.relation % 100, f.relation,
            f.object);
}

static bool write_facts(FILE *out, const plan *p)
{
    uint64_t state = p->seed;
    seen_facts seen;

    if (!seen_init(&seen, p->facts))
        return false;
    for (uint64_t i = 0; i < p->facts; i++) {
        fact f = draw(p, i, &state, false);
        while (!seen_add(&seen, (f.subject * p->relations + f.relation) * p->entities + f.object))
            f = draw(p, i, &state, true);
        write_fact(out, p, f);
    }
    free(seen.slots);
    return true;
}

static int fail(const char *what)
{
    fprintf(stderr, "bench-generate: %s\n", what);
    return EXIT_FAILURE;
}

/* 0, or the exit status. */
static int take_arguments(plan *p, int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "n:e:r:s:t:")) != -1) {
        if (option == 'n')
            p->facts = strtoull(optarg, NULL, 10);
        else if (option == 'e')
            p->entities = strtoull(optarg, NULL, 10);
        else if (option == 'r')
            p->relations = strtoull(optarg, NULL, 10);
        else if (option == 's')
            p->seed = strtoull(optarg, NULL, 10);
        else if (option == 't')
            p->ntriples = strcmp(optarg, "nt") == 0;
        else
            return fail(
                "usage: [-n FACTS] [-e ENTITIES] [-r RELATIONS] [-s SEED] [-t tsv|nt] FILE");
    }
    if (argc - optind != 1)
        return fail("expected one file to write");
    p->path = argv[optind];
    if (p->entities == 0 || p->relations == 0 || p->facts < p->entities || p->facts < p->relations)
        return fail("expected entities and relations, and at least as many facts");
    if ((double)p->facts > (double)p->entities * (double)p->entities * (double)p->relations / 100)
        return fail("too few entities for that many different facts");
    if (p->entities > UINT32_MAX || p->relations > UINT64_MAX / p->entities / p->entities)
        return fail("too many entities and relations to number their facts in 64 bits");
    return 0;
}

int main(int argc, char **argv)
{
    plan p = {10000000, 1000000, 1000, 1, false, NULL};
    int status = take_arguments(&p, argc, argv);

    if (status)
        return status;
    FILE *out = fopen(p.path, "w");
    if (!out)
        return fail(strerror(errno));
    if (!write_facts(out, &p))
        return fail("out of memory");
    if (ferror(out) || fclose(out) != 0)
        return fail(strerror(errno));
    return EXIT_SUCCESS;
}
