#include "graph/graph.h"
#include "graph/labels.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/mem.h"

kith_graph *kith__graph_new(void)
{
    kith_graph *graph = kith__calloc(1, sizeof *graph);

    if (graph && (kith__names_init(&graph->entities) || kith__names_init(&graph->relations))) {
        kith_graph_free(graph);
        return NULL;
    }
    if (graph)
        graph->report.first_bad = graph->first_bad;
    return graph;
}

void kith_graph_free(kith_graph *graph)
{
    if (!graph)
        return;
    kith__prefixes_release(&graph->prefixes);
    kith__relation_labels_free(graph);
    if (graph->map) {
        munmap((void *)graph->map, graph->map_bytes);
        kith__free(graph);
        return;
    }
    kith__names_release(&graph->entities);
    kith__names_release(&graph->relations);
    for (int split = 0; split < KITH_SPLITS; split++)
        kith__facts_release(&graph->splits[split]);
    kith__free(graph->label_bytes);
    kith__free(graph->label_start);
    kith__free(graph->offset);
    kith__free(graph->neighbors);
    kith__free(graph);
}

/* Free the names but keep their count. */
static void forget_names(kith__names *names)
{
    uint32_t count = names->count;

    kith__names_release(names);
    names->count = count;
}

void kith__graph_keep_neighborhoods(kith_graph *graph)
{
    if (graph->map) /* everything belongs to the map */
        return;
    forget_names(&graph->entities);
    forget_names(&graph->relations);
    kith__free(graph->label_bytes);
    kith__free(graph->label_start);
    graph->label_bytes = NULL;
    graph->label_start = NULL;
    kith__relation_labels_free(graph);
    for (int split = 0; split < KITH_SPLITS; split++) {
        size_t count = graph->splits[split].count;
        kith__facts_release(&graph->splits[split]);
        graph->splits[split].count = count;
    }
}

int kith__facts_add(kith__facts *facts, kith_triple triple)
{
    if (kith__reserve(&facts->at, &facts->capacity, facts->count + 1, sizeof *facts->at))
        return -1;
    facts->at[facts->count++] = triple;
    return 0;
}

int kith__facts_add_labelled(kith__facts *facts, kith_triple triple, int8_t truth)
{
    if (kith__reserve(&facts->truth, &facts->truth_capacity, facts->count + 1, 1))
        return -1;
    facts->truth[facts->count] = truth;
    return kith__facts_add(facts, triple);
}

void kith__facts_release(kith__facts *facts)
{
    kith__free(facts->at);
    kith__free(facts->truth);
    memset(facts, 0, sizeof *facts);
}

kith_status kith__bad_line(kith__loader *loader, const char *path, size_t line, const char *format,
                           ...)
{
    char place[32] = "", what[768];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (line > 0)
        snprintf(place, sizeof place, ":%zu", line);
    if (!loader->skip_bad)
        return kith__fail(loader->error, KITH_ERR_INPUT, "%s%s: %s", path, place, what);
    if (loader->graph->report.bad_lines++ == 0)
        snprintf(loader->graph->first_bad, sizeof loader->graph->first_bad, "%s%s: %s", path, place,
                 what);
    return KITH_OK;
}

char *kith__path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = kith__alloc(length, 1);
    if (path)
        snprintf(path, length, "%s/%s", folder, name);
    return path;
}

bool kith__path_exists(const char *folder, const char *name)
{
    char path[PATH_MAX]; /* PATH_MAX is enough for the system, and an allocation could fail */
    struct stat info;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);

    /* A dangling link counts as existing: the reader reports it. */
    return length > 0 && (size_t)length < sizeof path && lstat(path, &info) == 0;
}

bool kith__path_any(const char *folder, const char *const *names)
{
    for (; *names; names++)
        if (kith__path_exists(folder, *names))
            return true;
    return false;
}
