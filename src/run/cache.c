#include "run/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "graph/graph.h"

enum { FORMAT = 1, ALIGNED = 64, MOST_PIECES = 40 };

static const char magic[8] = "kithbin";

/* Everything that has a fixed size; the arrays follow, each at a multiple of ALIGNED. */
typedef struct {
    char magic[8];
    uint64_t format, key, bytes, sum;
    uint64_t names[2][3]; /* entities, relations: count, slots, bytes */
    uint64_t label_bytes, has_labels;
    uint64_t facts[KITH_SPLITS], truth[KITH_SPLITS]; /* counts; whether there are labels */
    uint64_t seen_entities, seen_relations, neighbors, duplicates, bad_lines;
    uint64_t rules, has_rules, listed;
    char layout[160], first_bad[1024];
} header;

/* One array: where the pointer to it is, and its bytes. */
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

/* All arrays in the order of the file: the one place that says what is in it. */
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

/* Four sums at a time, so that one multiplication need not wait for the one before. */
static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t count)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const char *at = bytes;
    uint64_t lane[4] = {sum, sum ^ 1, sum ^ 2, sum ^ 3}, word;

    for (; count >= 32; at += 32, count -= 32)
        for (int k = 0; k < 4; k++) {
            memcpy(&word, at + 8 * k, 8);
            lane[k] = (lane[k] ^ word) * odd;
            lane[k] ^= lane[k] >> 32;
        }
    for (; count > 0; at++, count--)
        lane[0] = (lane[0] ^ (unsigned char)*at) * odd;
    for (int k = 1; k < 4; k++)
        lane[0] = (lane[0] ^ lane[k]) * odd ^ lane[k] >> 29;
    return lane[0] ^ lane[0] >> 31;
}

/* Of all that is in the header but the sum itself. */
static uint64_t header_sum(const header *h)
{
    header copy;

    memcpy(&copy, h, sizeof copy);
    copy.sum = 0;
    return add_bytes(1, &copy, sizeof copy);
}

/* The same for files in any order, as a folder lists them. */
static uint64_t files_key(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    struct stat info;
    uint64_t sum = 0;

    while (folder && (entry = readdir(folder))) {
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) != 0 || !S_ISREG(info.st_mode))
            continue;
        uint64_t numbers[] = {(uint64_t)info.st_size, (uint64_t)info.st_mtim.tv_sec,
                              (uint64_t)info.st_mtim.tv_nsec};
        sum += add_bytes(add_bytes(1, numbers, sizeof numbers), entry->d_name,
                         strlen(entry->d_name));
    }
    if (folder)
        closedir(folder);
    return sum;
}

uint64_t kith__cache_key(const char *graph_folder, const kith_settings *settings, uint64_t hash)
{
    uint64_t key = add_bytes(hash, kith_version(), strlen(kith_version())) ^
                   files_key(graph_folder);
    const char *name;
    char text[64];

    for (size_t i = 0; (name = kith_settings_name(i, NULL, NULL)); i++) {
        const char *value = kith_settings_get(text, sizeof text, settings, name);
        key = add_bytes(key, value, strlen(value));
    }
    return key;
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
    h.duplicates = g->duplicates;
    h.bad_lines = g->bad_lines;
    h.has_rules = model->rules != NULL;
    h.rules = model->rules ? model->rules->offset[model->rules->relations] : 0;
    h.listed = model->lists->offset[g->entities.count];
    memcpy(h.layout, g->layout, sizeof h.layout);
    memcpy(h.first_bad, g->first_bad, sizeof h.first_bad);
    return h;
}

static void write_pieces(FILE *out, header *h, const pieces *p)
{
    static const char zeros[ALIGNED];

    h->bytes = aligned(sizeof *h);
    for (size_t i = 0; i < p->count; i++)
        h->bytes += aligned(p->at[i].bytes);
    uint64_t sum = header_sum(h);
    for (size_t i = 0; i < p->count; i++)
        sum = add_bytes(sum, *p->at[i].at, p->at[i].bytes);
    h->sum = sum;
    fwrite(h, sizeof *h, 1, out);
    fwrite(zeros, 1, aligned(sizeof *h) - sizeof *h, out);
    for (size_t i = 0; i < p->count; i++) {
        if (p->at[i].bytes > 0) /* a part without facts has no room at all */
            fwrite(*p->at[i].at, 1, p->at[i].bytes, out);
        fwrite(zeros, 1, aligned(p->at[i].bytes) - p->at[i].bytes, out);
    }
}

void kith__cache_save(const char *folder, uint64_t key, const kith_model *model)
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
    if (path && kith__new_file_open(&file, path, NULL) == KITH_OK) {
        write_pieces(file.stream, &h, &p);
        kith__new_file_commit(&file, NULL);
    }
    kith__new_file_abandon(&file);
    kith__free(path);
}

/* ---- mapping ---- */

static bool map_file(const char **map, size_t *bytes, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    void *memory = MAP_FAILED;

    if (file >= 0 && fstat(file, &info) == 0 && (size_t)info.st_size >= sizeof(header)) {
        *bytes = (size_t)info.st_size;
        memory = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    }
    if (file >= 0)
        close(file);
    *map = memory;
    return memory != MAP_FAILED;
}

/* Point the arrays into the file; false where it is not what its header says. */
static bool place_pieces(const pieces *p, const char *map, const header *h)
{
    size_t at = aligned(sizeof *h);
    uint64_t sum = header_sum(h);

    for (size_t i = 0; i < p->count; i++) {
        size_t bytes = p->at[i].bytes;
        if (bytes > h->bytes || h->bytes - bytes < at)
            return false;
        *p->at[i].at = (void *)(map + at); /* read-only memory: a graph is not changed any more */
        sum = add_bytes(sum, map + at, bytes);
        at += aligned(bytes);
    }
    return at == h->bytes && sum == h->sum;
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
    g->duplicates = (size_t)h->duplicates;
    g->bad_lines = (size_t)h->bad_lines;
    memcpy(g->layout, h->layout, sizeof g->layout);
    memcpy(g->first_bad, h->first_bad, sizeof g->first_bad);
    rules->relations = lists->relations = 2 * g->seen_relations;
    rules->mapped = lists->mapped = true;
    lists->entities = g->entities.count;
    lists->seen = g->seen_entities;
}

bool kith__cache_load(kith_graph **graph, kith__implications **rules, kith__neighbor_lists **lists,
                      const char *folder, uint64_t key)
{
    char *path = kith__path_join(folder, "cache.bin");
    kith_graph *g = kith__calloc(1, sizeof *g);
    kith__implications *r = kith__calloc(1, sizeof *r);
    kith__neighbor_lists *l = kith__calloc(1, sizeof *l);
    bool good = false;
    header h;
    pieces p;

    if (path && g && r && l && map_file(&g->map, &g->map_bytes, path)) {
        memcpy(&h, g->map, sizeof h);
        good = memcmp(h.magic, magic, sizeof magic) == 0 && h.format == FORMAT && h.key == key &&
               h.bytes == g->map_bytes;
        if (good)
            describe(&p, &h, g, r, l);
        good = good && place_pieces(&p, g->map, &h);
        set_numbers(g, r, l, &h);
        if (!good)
            munmap((void *)g->map, g->map_bytes);
    }
    if (good && !h.has_rules) {
        kith__free(r);
        r = NULL;
    }
    *graph = good ? g : NULL;
    *rules = good ? r : NULL;
    *lists = good ? l : NULL;
    kith__free(path);
    if (!good) {
        kith__free(g);
        kith__free(r);
        kith__free(l);
    }
    return good;
}
