/* Folders with one file per split: named by splits, or in OpenKE's format. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "graph/read/readers.h"
#include "graph/read/table.h"

static const char *const part_names[KITH_SPLITS][3] = {
    {"train"}, {"dev", "valid", "validation"}, {"test"}, {"aux"}};

/* Find the file of a split: any of its names with any ending. *path is NULL if there is none; two
 * are an error, because only the user can say which is meant. */
static kith_status find_split_file(char **path, const char *folder, kith_split split,
                                   kith_error *error)
{
    static const char *const endings[] = {"", ".txt", ".tsv"};
    static const char *const packings[] = {"", ".gz", ".zst"};
    char found[64] = "";

    *path = NULL;
    for (size_t i = 0; i < 3 * 3 * 3; i++) {
        const char *stem = part_names[split][i / 9];
        char name[64];
        if (!stem)
            continue;
        snprintf(name, sizeof name, "%s%s%s", stem, endings[i / 3 % 3], packings[i % 3]);
        if (!kith__path_exists(folder, name))
            continue;
        if (found[0])
            return kith__fail(error, KITH_ERR_INPUT,
                              "%s: has both %s and %s, expected one file for that split", folder,
                              found, name);
        snprintf(found, sizeof found, "%s", name);
    }
    if (found[0] && !(*path = kith__path_join(folder, found)))
        return kith__no_memory(error);
    return KITH_OK;
}

static kith_status read_names_file(bool *there, kith__loader *loader, const char *folder,
                                   const char *name, kith__names *names, const char *what)
{
    *there = kith__path_exists(folder, name);
    if (!*there)
        return KITH_OK;
    char *path = kith__path_join(folder, name);
    kith_status status = path ? kith__read_vocabulary(loader, path, names, what)
                              : kith__no_memory(loader->error);
    kith__free(path);
    return status;
}

/* With skip_bad, an empty file counts as one bad line; train must have facts nevertheless. */
static kith_status open_split(kith__input **input, kith__loader *loader, const char *path)
{
    kith_error why = {KITH_OK, ""};
    kith_status status = kith__input_open(input, path, loader->watch, &why);

    if (status == KITH_ERR_INPUT && loader->skip_bad)
        return kith__bad_line(loader, path, 0, "is empty or not a file, expected facts");
    if (status != KITH_OK && loader->error)
        *loader->error = why;
    return status;
}

static kith_status read_part(kith__loader *loader, const char *path, kith_split split,
                             kith__table_form *form, bool entities_named, bool relations_named)
{
    kith__input *input = NULL;
    kith_status status;

    TRY(open_split(&input, loader, path));
    if (!input)
        return KITH_OK;
    TRY(kith__input_refuse_utf16(input, loader->error));
    if (split == KITH_TRAIN && !form->counted)
        TRY(kith__recognise_columns(form, loader, input, entities_named, relations_named));
    form->may_label = split == KITH_DEV || split == KITH_TEST;
    TRY(kith__read_table(loader, input, split, form, NULL));
cleanup:
    kith__input_close(input);
    return status;
}

static kith_status need_facts(kith__loader *loader, const char *folder)
{
    if (loader->graph->splits[KITH_TRAIN].count > 0)
        return KITH_OK;
    return kith__fail(loader->error, KITH_ERR_INPUT,
                      "%s: train has no facts, expected at least one", folder);
}

static kith_status read_optional(kith__loader *loader, const char *folder, const char *name,
                                 kith_status (*read)(kith__loader *, const char *))
{
    if (!kith__path_exists(folder, name))
        return KITH_OK;
    char *path = kith__path_join(folder, name);
    kith_status status = path ? read(loader, path) : kith__no_memory(loader->error);
    kith__free(path);
    return status;
}

static kith_status read_splits(kith__loader *loader, const char *folder)
{
    static const char *const kinds[] = {"names", "names listed in *2id.txt", "ids"};
    kith_graph *graph = loader->graph;
    kith__table_form form = {0};
    bool entities_named, relations_named;
    char *path = NULL;
    kith_status status;

    TRY(read_names_file(&entities_named, loader, folder, "entity2id.txt", &graph->entities,
                        "entity"));
    TRY(read_names_file(&relations_named, loader, folder, "relation2id.txt", &graph->relations,
                        "relation"));
    for (int split = 0; split < KITH_SPLITS; split++) {
        TRY(find_split_file(&path, folder, split, loader->error));
        if (path)
            TRY(read_part(loader, path, split, &form, entities_named, relations_named));
        kith__free(path);
        path = NULL;
    }
    TRY(need_facts(loader, folder));
    snprintf(graph->layout, sizeof graph->layout,
             "folder of train, dev, test, aux; entities as %s, "
             "relations as %s",
             kinds[form.entities], kinds[form.relations]);
    TRY(read_optional(loader, folder, "entity_name.txt", kith__read_labels));
    TRY(read_optional(loader, folder, "relation_name.txt", kith__read_relation_labels));
    TRY(read_optional(loader, folder, "prefixes.txt", kith__read_prefixes));
cleanup:
    kith__free(path);
    return status;
}

static kith_status need_vocabulary(bool there, kith__loader *loader, const char *folder,
                                   const char *name)
{
    if (there)
        return KITH_OK;
    return kith__fail(loader->error, KITH_ERR_INPUT,
                      "%s: has train2id.txt but no %s, expected both in OpenKE's layout", folder,
                      name);
}

static kith_status read_openke(kith__loader *loader, const char *folder)
{
    static const struct {
        const char *name;
        kith_split split;
    } files[] = {{"train2id.txt", KITH_TRAIN},
                 {"valid2id.txt", KITH_DEV},
                 {"test2id.txt", KITH_TEST},
                 {"aux2id.txt", KITH_AUX}};
    kith_graph *graph = loader->graph;
    kith__table_form form = {KITH__IDS, KITH__IDS, .object_second = true, .counted = true};
    bool there;
    kith_status status;

    TRY(read_names_file(&there, loader, folder, "entity2id.txt", &graph->entities, "entity"));
    TRY(need_vocabulary(there, loader, folder, "entity2id.txt"));
    TRY(read_names_file(&there, loader, folder, "relation2id.txt", &graph->relations, "relation"));
    TRY(need_vocabulary(there, loader, folder, "relation2id.txt"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!kith__path_exists(folder, files[i].name))
            continue;
        char *path = kith__path_join(folder, files[i].name);
        status = path ? read_part(loader, path, files[i].split, &form, true, true)
                      : kith__no_memory(loader->error);
        kith__free(path);
        TRY(status);
    }
    TRY(need_facts(loader, folder));
cleanup:
    return status;
}

static bool is_openke(const char *folder)
{
    return kith__path_exists(folder, "train2id.txt");
}

static bool has_train(const char *folder)
{
    static const char *const names[] = {"train",     "train.txt",     "train.tsv",
                                        "train.gz",  "train.txt.gz",  "train.tsv.gz",
                                        "train.zst", "train.txt.zst", "train.tsv.zst",
                                        NULL};
    return kith__path_any(folder, names);
}

const kith__reader kith__reader_openke = {
    .name = "OpenKE folder",
    .holds = "train2id.txt with entity2id.txt and relation2id.txt",
    .is_folder = is_openke,
    .read_folder = read_openke};
const kith__reader kith__reader_splits = {.name = "folder of train, dev, test, aux",
                                          .holds = "train (or train.txt, train.tsv)",
                                          .is_folder = has_train,
                                          .read_folder = read_splits};
