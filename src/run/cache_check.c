#include "run/cache_check.h"

#include <math.h>
#include <string.h>

#include "core/checksum.h"
#include "core/utf8.h"

enum {
    RECORD_HEAD = 8,
    AHEAD = 16,
    TICK = 1 << 16, /* items between two ticks of the watch */
    BLOCK = 1 << 22 /* the same in loops that take a nanosecond per item */
};

/* Whether the watch stops the check before this item. */
static inline bool stops(kith__watch *watch, uint64_t item)
{
    return item % TICK == 0 && kith__watch_add(watch, 0);
}

static uint64_t block_end(uint64_t from, uint64_t count)
{
    return count - from < BLOCK ? count : from + BLOCK;
}

/* ---- names ---- */

static uint32_t number_at(const char *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Records are in the order of their ids without gaps. */
static bool records_valid(const kith__names *names, kith__watch *watch)
{
    size_t at = 0;

    for (uint32_t id = 0; id < names->count; id++) {
        if (stops(watch, id) || names->byte_count - at < RECORD_HEAD + 1 ||
            number_at(names->bytes + at) != id || names->start[id] != at + RECORD_HEAD)
            return false;
        size_t length = number_at(names->bytes + at + 4);
        at += RECORD_HEAD;
        if (length >= names->byte_count - at || names->bytes[at + length] != '\0')
            return false;
        at += length + 1;
    }
    return at == names->byte_count;
}

/* There are as many used slots as names, and each points to a record. As there are free slots,
 * every probe ends. */
static bool slots_valid(const kith__names *names, kith__watch *watch)
{
    size_t used = 0;

    if (names->slot_count == 0 || (names->slot_count & (names->slot_count - 1)) != 0)
        return false;
    for (size_t i = 0; i < names->slot_count; i++) {
        uint64_t place = names->slots[i] & KITH__PLACE_MASK;
        if (stops(watch, i))
            return false;
        if (names->slots[i] == 0)
            continue;
        used++;
        if (place == 0 || place - 1 + RECORD_HEAD > names->byte_count)
            return false;
        uint32_t id = number_at(names->bytes + place - 1);
        if (id >= names->count || names->start[id] != place - 1 + RECORD_HEAD)
            return false;
    }
    return used == names->count && used < names->slot_count;
}

static uint64_t hash_of(const kith__names *names, uint32_t id)
{
    return kith__names_hash(kith__names_get(names, id), kith__names_length(names, id));
}

/* Slots are prefetched AHEAD names before they are read. */
static bool names_found(const kith__names *names, kith__watch *watch)
{
    uint64_t hashes[AHEAD], count = names->count;

    for (uint64_t next = 0; next < count + AHEAD; next++) {
        uint64_t turn = next % AHEAD;
        uint32_t id = (uint32_t)(next - AHEAD);
        if (stops(watch, next))
            return false;
        if (next >= AHEAD &&
            kith__names_find(names, kith__names_get(names, id), kith__names_length(names, id),
                             hashes[turn]) != id)
            return false;
        if (next < count) {
            hashes[turn] = hash_of(names, (uint32_t)next);
            kith__names_prefetch(names, hashes[turn], 0);
        }
    }
    return true;
}

/* As every reader has it. A tab or a line end would forge columns and lines of tables. */
static bool texts_valid(const kith__names *names, kith__watch *watch)
{
    for (uint32_t id = 0; id < names->count; id++) {
        const char *name = kith__names_get(names, id);
        size_t length = kith__names_length(names, id);
        if (stops(watch, id) || length == 0 || memchr(name, '\t', length) ||
            memchr(name, '\n', length) || !kith__utf8_valid(name, length))
            return false;
    }
    return true;
}

static bool names_valid(const kith__names *names, kith__watch *watch)
{
    return records_valid(names, watch) && texts_valid(names, watch) && slots_valid(names, watch) &&
           names_found(names, watch);
}

static bool labels_valid(const kith_graph *g, size_t bytes)
{
    if (!g->label_start)
        return true;
    if (bytes > 0 && g->label_bytes[bytes - 1] != '\0')
        return false;
    for (uint32_t e = 0; e < g->entities.count; e++)
        if (g->label_start[e] > bytes)
            return false;
    return true;
}

/* ---- facts and neighbours ---- */

static bool facts_valid(const kith_graph *g, int split, kith__watch *watch)
{
    const kith__facts *facts = &g->splits[split];
    uint32_t entities = split == KITH_TRAIN ? g->seen_entities : g->entities.count;
    uint32_t relations = split == KITH_TRAIN ? g->seen_relations : g->relations.count;
    bool good = true;

    for (size_t from = 0, end; from < facts->count && good; from = end) {
        end = block_end(from, facts->count);
        for (size_t i = from; i < end; i++) {
            kith_triple t = facts->at[i];
            good &= t.subject < entities && t.object < entities && t.relation < relations;
        }
        good = good && !kith__watch_add(watch, 0);
    }
    for (size_t i = 0; facts->truth && i < facts->count; i++)
        good &= facts->truth[i] == 0 || facts->truth[i] == 1;
    return good;
}

static bool offsets_valid(const uint64_t *offset, size_t count, uint64_t total)
{
    bool good = offset[0] == 0 && offset[count] == total;

    for (size_t i = 0; i < count; i++)
        good &= offset[i] <= offset[i + 1];
    return good;
}

/* Neighbours are seen, and their relations are r or `inverse` + r. */
static bool neighbors_valid(const kith_neighbor *at, uint64_t count, uint32_t entities,
                            uint32_t relations, uint32_t inverse, kith__watch *watch)
{
    bool good = true;

    for (uint64_t from = 0, end; from < count && good; from = end) {
        end = block_end(from, count);
        for (uint64_t i = from; i < end; i++) {
            uint32_t r = at[i].relation;
            good &= at[i].entity < entities && (r < relations || r - inverse < relations);
        }
        good = good && !kith__watch_add(watch, 0);
    }
    return good;
}

static bool graph_valid(const kith_graph *g, size_t label_bytes, kith__watch *watch)
{
    uint64_t neighbors = g->offset[g->entities.count];
    bool good = g->seen_entities <= g->entities.count && g->seen_relations <= g->relations.count &&
                g->relations.count <= UINT32_MAX / 2 && names_valid(&g->entities, watch) &&
                names_valid(&g->relations, watch) && labels_valid(g, label_bytes) &&
                memchr(g->layout, '\0', sizeof g->layout) &&
                memchr(g->first_bad, '\0', sizeof g->first_bad);

    for (int split = 0; good && split < KITH_SPLITS; split++)
        good = facts_valid(g, split, watch);
    return good && offsets_valid(g->offset, g->entities.count, neighbors) &&
           neighbors_valid(g->neighbors, neighbors, g->seen_entities, g->seen_relations,
                           g->relations.count, watch);
}

/* ---- rules and lists ---- */

static bool rules_valid(const kith__implications *rules, uint32_t entities)
{
    uint64_t count = rules->offset[rules->relations];
    bool good = offsets_valid(rules->offset, rules->relations, count);

    for (uint32_t r = 0; r < rules->relations; r++)
        good &= rules->frequency[r] <= entities && rules->self_mean[r] >= 0 &&
                rules->self_mean[r] <= 1;
    for (uint64_t i = 0; i < count; i++) {
        const kith__implication *rule = &rules->at[i];
        good &= rule->relation < rules->relations && rule->support <= entities &&
                rule->confidence >= 0 && rule->confidence <= 1;
    }
    return good;
}

static bool lists_valid(const kith__neighbor_lists *lists, kith__watch *watch)
{
    uint64_t count = lists->offset[lists->entities];
    bool good = offsets_valid(lists->offset, lists->entities, count) &&
                neighbors_valid(lists->at, count, lists->seen, lists->relations, 0, watch);

    for (uint64_t i = 0; lists->denominator && i < count; i++) /* 0 beyond the cap */
        good &= lists->denominator[i] >= 0 && lists->denominator[i] <= 2;
    return good;
}

bool kith__cache_arrays_valid(const kith_graph *graph, size_t label_bytes,
                              const kith__implications *rules, const kith__neighbor_lists *lists,
                              kith__watch *watch)
{
    return graph_valid(graph, label_bytes, watch) &&
           (!rules || rules_valid(rules, graph->seen_entities)) && lists_valid(lists, watch);
}

/* ---- data derived from names, facts and settings ---- */

static void add_labels(kith__checksum *sum, const kith_graph *g)
{
    for (uint32_t e = 0; g->label_start && e < g->entities.count; e++)
        if (g->label_start[e] > 0) {
            const char *label = g->label_bytes + g->label_start[e] - 1;
            kith__checksum_add(sum, &e, sizeof e);
            kith__checksum_add(sum, label, strlen(label) + 1);
        }
}

uint64_t kith__labels_hash(const kith_graph *graph)
{
    kith__checksum sum;

    kith__checksum_init(&sum);
    add_labels(&sum, graph);
    for (uint32_t r = 0; graph->relation_labels && r < graph->relations.count; r++) {
        const char *label = kith_graph_relation_label(graph, r);
        kith__checksum_add(&sum, label, strlen(label) + 1);
    }
    for (size_t i = 0; i < graph->prefixes.count; i++) {
        kith__checksum_add(&sum, &graph->prefixes.at[i], sizeof graph->prefixes.at[i]);
        if (i + 1 == graph->prefixes.count)
            kith__checksum_add(&sum, graph->prefixes.bytes, graph->prefixes.used);
    }
    return kith__checksum_value(&sum);
}

static void add_rules(kith__checksum *sum, const kith__implications *rules)
{
    size_t relations = rules->relations, count = (size_t)rules->offset[relations];

    kith__checksum_add(sum, rules->frequency, relations * sizeof *rules->frequency);
    kith__checksum_add(sum, rules->offset, (relations + 1) * sizeof *rules->offset);
    kith__checksum_add(sum, rules->at, count * sizeof *rules->at);
    kith__checksum_add(sum, rules->self_mean, relations * sizeof *rules->self_mean);
}

uint64_t kith__derived_hash(const kith_graph *g, const kith__implications *rules,
                            const kith__neighbor_lists *lists)
{
    size_t n = g->entities.count, listed = (size_t)lists->offset[n];
    kith__checksum sum;

    kith__checksum_init(&sum);
    kith__checksum_add(&sum, &g->seen_entities, sizeof g->seen_entities);
    kith__checksum_add(&sum, &g->seen_relations, sizeof g->seen_relations);
    add_labels(&sum, g);
    kith__checksum_add(&sum, g->offset, (n + 1) * sizeof *g->offset);
    kith__checksum_add(&sum, g->neighbors, (size_t)g->offset[n] * sizeof *g->neighbors);
    if (rules)
        add_rules(&sum, rules);
    kith__checksum_add(&sum, lists->offset, (n + 1) * sizeof *lists->offset);
    kith__checksum_add(&sum, lists->at, listed * sizeof *lists->at);
    if (lists->denominator)
        kith__checksum_add(&sum, lists->denominator, listed * sizeof *lists->denominator);
    return kith__checksum_value(&sum);
}
