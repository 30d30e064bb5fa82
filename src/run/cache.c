#include "run/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/files.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "run/cache_check.h"

enum {
    FORMAT = 2,
    ALIGNED = 64,
    MOST_PIECES = 40,
    WRITTEN_AT_ONCE = 1 << 24 /* bytes between two ticks of the watch */
};

static const char magic[8] = "kithbin";

/* The header of fixed size. The arrays follow, each at a multiple of ALIGNED. */
typedef struct {
    char magic[8];
    uint64_t format, key, bytes;
    uint64_t sum;                /* checksum of this header, with 0 here */
    uint64_t data_hash, derived; /* of names and facts; of everything derived from them */
    uint64_t names[2][3];        /* entities, relations: count, slots, bytes */
    uint64_t label_bytes, has_labels;
    uint64_t facts[KITH_SPLITS], truth[KITH_SPLITS]; /* counts; whether there are labels */
    uint64_t seen_entities, seen_relations, neighbors, duplicates, bad_lines;
    uint64_t rules, has_rules, listed;
    char layout[160], first_bad[1024];
} header;

/* One array: the address of its pointer, and its size in bytes. */
typedef struct {
    void **at;
    size_t bytes;
} piece;

typedef struct {
    piece at[MOST_PIECES];
    size_t count;
} pieces;

static void add_piece(pieces *p, void *pointer_to_array, uint64_t count, size_t size)
{
    p->at[p->count++] = (piece){pointer_to_array, (size_t)count * size};
}

static void describe_names(pieces *p, kith__names *names, const uint64_t count[3])
{
    add_piece(p, &names->slots, count[1], sizeof *names->slots);
    add_piece(p, &names->bytes, count[2], 1);
    add_piece(p, &names->start, count[0], sizeof *names->start);
}

/* All arrays in file order: the single description of the file's content. */
static void describe(pieces *p, const header *h, kith_graph *g, kith__implications *rules,
                     kith__neighbor_lists *lists)
{
    uint64_t entities = h->names[0][0], directed = 2 * h->seen_relations;

    p->count = 0;
    describe_names(p, &g->entities, h->names[0]);
    describe_names(p, &g->relations, h->names[1]);
    if (h->has_labels) {
        add_piece(p, &g->label_bytes, h->label_bytes, 1);
        add_piece(p, &g->label_start, entities, sizeof *g->label_start);
    }
    for (int split = 0; split < KITH_SPLITS; split++) {
        add_piece(p, &g->splits[split].at, h->facts[split], sizeof *g->splits[split].at);
        if (h->truth[split])
            add_piece(p, &g->splits[split].truth, h->facts[split], 1);
    }
    add_piece(p, &g->offset, entities + 1, sizeof *g->offset);
    add_piece(p, &g->neighbors, h->neighbors, sizeof *g->neighbors);
    if (h->has_rules) {
        add_piece(p, &rules->frequency, directed, sizeof *rules->frequency);
        add_piece(p, &rules->offset, directed + 1, sizeof *rules->offset);
        add_piece(p, &rules->at, h->rules, sizeof *rules->at);
        add_piece(p, &rules->self_mean, directed, sizeof *rules->self_mean);
        add_piece(p, &lists->denominator, h->listed, sizeof *lists->denominator);
    }
    add_piece(p, &lists->offset, entities + 1, sizeof *lists->offset);
    add_piece(p, &lists->at, h->listed, sizeof *lists->at);
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* ---- keys and sums ---- */

static uint64_t header_sum(const header *h)
{
    header copy;

    memcpy(&copy, h, sizeof copy);
    copy.sum = 0;
    return kith__checksum_of(&copy, sizeof copy);
}

static uint64_t file_key(const char *name, const struct stat *info)
{
    uint64_t numbers[] = {(uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec,
                          (uint64_t)info->st_mtim.tv_nsec};
    kith__checksum sum;

    kith__checksum_init(&sum);
    kith__checksum_add(&sum, numbers, sizeof numbers);
    kith__checksum_add(&sum, name, strlen(name));
    return kith__checksum_value(&sum);
}

/* A hash of the files in any order, as a folder lists them. */
static uint64_t files_key(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    struct stat info;
    uint64_t sum = 0;

    while (folder && (entry = readdir(folder)))
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            sum += file_key(entry->d_name, &info);
    if (folder)
        closedir(folder);
    return sum;
}

uint64_t kith__cache_key(const char *graph_folder, const kith_settings *settings, uint64_t hash)
{
    uint64_t files = files_key(graph_folder);
    kith__checksum sum;
    const char *name;
    char text[64];

    kith__checksum_init(&sum);
    kith__checksum_add(&sum, &hash, sizeof hash);
    kith__checksum_add(&sum, &files, sizeof files);
    kith__checksum_add(&sum, kith_version(), strlen(kith_version()));
    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++) {
        const char *value = kith_settings_get(text, sizeof text, settings, name);
        kith__checksum_add(&sum, value, strlen(value) + 1);
    }
    return kith__checksum_value(&sum);
}

/* ---- writing ---- */

static header header_of(const kith_model *model, uint64_t key)
{
    const kith_graph *g = model->graph;
    const kith__names *names[2] = {&g->entities, &g->relations};
    header h;

    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof h.magic);
    h.format = FORMAT;
    h.key = key;
    h.data_hash = kith_graph_hash(g);
    h.derived = kith__derived_hash(g, model->rules, model->lists);
    for (int k = 0; k < 2; k++) {
        h.names[k][0] = names[k]->count;
        h.names[k][1] = names[k]->slot_count;
        h.names[k][2] = names[k]->byte_count;
    }
    h.has_labels = g->label_start != NULL;
    for (uint32_t e = 0; h.has_labels && e < g->entities.count; e++)
        if (g->label_start[e] > 0) {
            const char *label = g->label_bytes + g->label_start[e] - 1;
            size_t end = (size_t)g->label_start[e] + strlen(label);
            h.label_bytes = end > h.label_bytes ? end : h.label_bytes;
        }
    for (int split = 0; split < KITH_SPLITS; split++) {
        h.facts[split] = g->splits[split].count;
        h.truth[split] = g->splits[split].truth != NULL;
    }
    h.seen_entities = g->seen_entities;
    h.seen_relations = g->seen_relations;
    h.neighbors = g->offset[g->entities.count];
    h.duplicates = g->report.duplicates;
    h.bad_lines = g->report.bad_lines;
    h.has_rules = model->rules != NULL;
    h.rules = model->rules ? model->rules->offset[model->rules->relations] : 0;
    h.listed = model->lists->offset[g->entities.count];
    memcpy(h.layout, g->layout, sizeof h.layout);
    memcpy(h.first_bad, g->first_bad, sizeof h.first_bad);
    return h;
}

/* Whether all was written before the watch stopped it. */
static bool write_pieces(FILE *out, header *h, const pieces *p, kith__watch *watch)
{
    static const char zeros[ALIGNED];

    h->bytes = aligned(sizeof *h);
    for (size_t i = 0; i < p->count; i++)
        h->bytes += aligned(p->at[i].bytes);
    h->sum = header_sum(h);
    fwrite(h, sizeof *h, 1, out);
    fwrite(zeros, 1, aligned(sizeof *h) - sizeof *h, out);
    for (size_t i = 0; i < p->count; i++) {
        const char *at = *p->at[i].at; /* NULL for a split without facts */
        for (size_t left = p->at[i].bytes, some; left > 0; at += some, left -= some) {
            some = left < WRITTEN_AT_ONCE ? left : WRITTEN_AT_ONCE;
            fwrite(at, 1, some, out);
            if (kith__watch_add(watch, 0))
                return false;
        }
        fwrite(zeros, 1, aligned(p->at[i].bytes) - p->at[i].bytes, out);
    }
    return true;
}

void kith__cache_save(const char *folder, uint64_t key, const kith_model *model,
                      kith__watch *watch)
{
    kith_graph graph = *model->graph; /* copies of pointers, for the table of pieces */
    kith__implications rules = {0};
    kith__neighbor_lists lists = *model->lists;
    header h = header_of(model, key);
    kith__new_file file = {0};
    char *path = kith__path_join(folder, "cache.bin");
    pieces p;

    if (model->rules)
        rules = *model->rules;
    describe(&p, &h, &graph, &rules, &lists);
    if (path && kith__new_file_replace(&file, path, NULL) == KITH_OK &&
        write_pieces(file.stream, &h, &p, watch))
        kith__new_file_commit(&file, NULL);
    kith__new_file_abandon(&file);
    kith__free(path);
}

/* ---- mapping ---- */

static bool map_file(const char **map, size_t *bytes, const char *path)
{
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    void *memory = MAP_FAILED;

    if (file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
        (size_t)info.st_size >= sizeof(header)) {
        *bytes = (size_t)info.st_size;
        memory = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    }
    if (file >= 0)
        close(file);
    *map = memory;
    return memory != MAP_FAILED;
}

/* No count may exceed the file's size, so that no product below overflows. */
static bool counts_fit(const header *h)
{
    const uint64_t counts[] = {h->label_bytes, h->seen_entities, h->seen_relations, h->neighbors,
                               h->rules, h->listed};
    bool good = h->bytes < UINT64_C(1) << 56;

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            good &= h->names[k][i] <= h->bytes && (i > 0 || h->names[k][i] < KITH__NO_ID);
    for (int split = 0; split < KITH_SPLITS; split++)
        good &= h->facts[split] <= h->bytes && h->truth[split] <= 1;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        good &= counts[i] <= h->bytes;
    return good && h->seen_entities <= h->names[0][0] && h->seen_relations <= h->names[1][0];
}

static bool is_zero(const char *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (at[i])
            return false;
    return true;
}

/* Point the arrays into the file; false if its length differs from the header's. */
static bool place_pieces(const pieces *p, const char *map, const header *h)
{
    size_t at = aligned(sizeof *h);

    if (!is_zero(map + sizeof *h, at - sizeof *h))
        return false;
    for (size_t i = 0; i < p->count; i++) {
        size_t bytes = p->at[i].bytes, padded = aligned(bytes);
        if (padded > h->bytes - at || !is_zero(map + at + bytes, padded - bytes))
            return false;
        *p->at[i].at = (void *)(map + at); /* the memory is read-only: a graph no longer changes */
        at += padded;
    }
    return at == h->bytes;
}

static void set_names(kith__names *names, const uint64_t count[3])
{
    names->count = (uint32_t)count[0];
    names->slot_count = (size_t)count[1];
    names->byte_count = (size_t)count[2];
}

static void set_numbers(kith_graph *g, kith__implications *rules, kith__neighbor_lists *lists,
                        const header *h)
{
    set_names(&g->entities, h->names[0]);
    set_names(&g->relations, h->names[1]);
    for (int split = 0; split < KITH_SPLITS; split++)
        g->splits[split].count = (size_t)h->facts[split];
    g->seen_entities = (uint32_t)h->seen_entities;
    g->seen_relations = (uint32_t)h->seen_relations;
    g->report.duplicates = (size_t)h->duplicates;
    g->report.bad_lines = (size_t)h->bad_lines;
    memcpy(g->layout, h->layout, sizeof g->layout);
    memcpy(g->first_bad, h->first_bad, sizeof g->first_bad);
    g->report.first_bad = g->first_bad;
    rules->relations = lists->relations = 2 * g->seen_relations;
    rules->mapped = lists->mapped = true;
    lists->entities = g->entities.count;
    lists->seen = g->seen_entities;
}

/* Whether this is the header of a complete file made for this run. */
static bool header_fits(const header *h, size_t bytes, const kith__cache_wanted *wanted)
{
    return memcmp(h->magic, magic, sizeof magic) == 0 && h->format == FORMAT &&
           h->bytes == bytes && bytes >= aligned(sizeof *h) && h->key == wanted->key &&
           h->sum == header_sum(h) && h->data_hash == wanted->data_hash &&
           (wanted->derived == 0 || h->derived == wanted->derived) &&
           h->has_rules == wanted->rules && h->has_labels <= 1 && counts_fit(h);
}

/* The last entries of the offsets equal counts in the header, which other checks rely on. */
static bool ends_agree(const header *h, const kith_graph *g, const kith__implications *r,
                       const kith__neighbor_lists *l)
{
    return g->offset[g->entities.count] == h->neighbors &&
           l->offset[l->entities] == h->listed &&
           (!h->has_rules || r->offset[r->relations] == h->rules);
}

static bool fill(kith_graph *g, kith__implications *r, kith__neighbor_lists *l,
                 const kith__cache_wanted *wanted)
{
    header h;
    pieces p;

    memcpy(&h, g->map, sizeof h);
    if (!header_fits(&h, g->map_bytes, wanted))
        return false;
    describe(&p, &h, g, r, l);
    set_numbers(g, r, l, &h);
    const kith__implications *rules = h.has_rules ? r : NULL;
    return place_pieces(&p, g->map, &h) && ends_agree(&h, g, r, l) &&
           kith__cache_arrays_valid(g, (size_t)h.label_bytes, rules, l, wanted->watch) &&
           kith_graph_hash(g) == h.data_hash && !kith__watch_add(wanted->watch, 0) &&
           kith__derived_hash(g, rules, l) == h.derived && !kith__watch_add(wanted->watch, 0);
}

bool kith__cache_load(kith_graph **graph, kith__implications **rules, kith__neighbor_lists **lists,
                      const char *folder, const kith__cache_wanted *wanted)
{
    char *path = kith__path_join(folder, "cache.bin");
    kith_graph *g = kith__calloc(1, sizeof *g);
    kith__implications *r = kith__calloc(1, sizeof *r);
    kith__neighbor_lists *l = kith__calloc(1, sizeof *l);
    bool good = false;

    if (path && g && r && l && map_file(&g->map, &g->map_bytes, path)) {
        good = fill(g, r, l, wanted);
        if (!good)
            munmap((void *)g->map, g->map_bytes);
    }
    kith__free(path);
    if (!good || !wanted->rules) {
        kith__free(r);
        r = NULL;
    }
    if (!good) {
        kith__free(g);
        kith__free(l);
    }
    *graph = good ? g : NULL;
    *rules = r;
    *lists = good ? l : NULL;
    return good;
}
