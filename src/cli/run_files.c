#include "cli/run_files.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/files.h"

static FILE *open_file(const char *folder, const char *name)
{
    char *path = NULL;
    FILE *in = asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : kith__regular_open(path, false);

    free(path);
    return in;
}

long long facts_fitted_on(const char *folder)
{
    FILE *in = open_file(folder, "fusion.json");
    json_t *fusion = in ? json_loadf(in, 0, NULL) : NULL;
    long long queries = fusion ? json_integer_value(json_object_get(fusion, "queries")) : -1;

    json_decref(fusion);
    if (in)
        fclose(in);
    return queries;
}

long long facts_calibrated_on(const char *folder)
{
    FILE *calibration = open_file(folder, "calibration.json");
    FILE *dev = calibration ? open_file(folder, "graph/dev") : NULL;
    long long lines = dev ? 0 : -1;

    for (int c; dev && (c = getc(dev)) != EOF;)
        lines += c == '\n';
    if (calibration)
        fclose(calibration);
    if (dev)
        fclose(dev);
    return lines;
}

/* The metadata in the header of checkpoint.safetensors: eight bytes of length, then JSON. */
static json_t *checkpoint_notes(const char *folder)
{
    enum { MOST = 1 << 20 };
    FILE *in = open_file(folder, "checkpoint.safetensors");
    unsigned char head[8];
    size_t length = 0;
    char *text = NULL;
    json_t *header = NULL;

    if (in && fread(head, 1, sizeof head, in) == sizeof head)
        for (int i = 7; i >= 0; i--)
            length = length << 8 | head[i];
    if (length > 0 && length < MOST && (text = malloc(length)) &&
        fread(text, 1, length, in) == length)
        header = json_loadb(text, length, 0, NULL);
    json_t *notes = json_incref(json_object_get(header, "__metadata__"));
    json_decref(header);
    free(text);
    if (in)
        fclose(in);
    return notes;
}

void tell_unfinished(const char *folder)
{
    json_t *notes = checkpoint_notes(folder);
    const char *finished = json_string_value(json_object_get(notes, "finished"));
    const char *epoch = json_string_value(json_object_get(notes, "epoch"));

    if (finished && epoch && strcmp(finished, "0") == 0)
        note("%s: training was stopped after epoch %s; finish it with: kith train --resume %s\n",
             folder, epoch, folder);
    json_decref(notes);
}

/* ---- the next command ---- */

/* Whether the first fact of a split has a label: a fourth column. */
static bool is_labelled(const char *folder, const char *name)
{
    FILE *in = open_file(folder, name);
    int tabs = 0, c = EOF;

    while (in && (c = getc(in)) != EOF && c != '\n')
        tabs += c == '\t';
    if (in)
        fclose(in);
    return tabs >= 3;
}

bool can_evaluate(const char *folder)
{
    FILE *in = open_file(folder, "graph/test");

    if (in)
        fclose(in);
    /* A classifier is fitted on the labels of dev. */
    return in && (!is_labelled(folder, "graph/test") || is_labelled(folder, "graph/dev"));
}

char *shell_word(const char *text)
{
    static const char safe[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+=@%-";
    char *word = NULL;

    if (*text && text[strspn(text, safe)] == '\0')
        return strdup(text);
    if (!(word = malloc(4 * strlen(text) + 3)))
        return NULL;
    char *to = word;
    *to++ = '\'';
    for (; *text; text++)
        if (*text == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *text;
    strcpy(to, "'");
    return word;
}

/* Write a name as a field of a question; false if it cannot be typed there. */
static bool put_field(char *out, size_t size, const char *name)
{
    bool quoted = strpbrk(name, " \"") != NULL || strcmp(name, "?") == 0;
    size_t used = 0;

    if (!is_plain(name) || strpbrk(name, "\t\\") || 2 * strlen(name) + 3 > size)
        return false;
    if (quoted)
        out[used++] = '"';
    for (; *name; name++) {
        out[used++] = *name;
        if (*name == '"')
            out[used++] = '"';
    }
    if (quoted)
        out[used++] = '"';
    out[used] = '\0';
    return true;
}

/* Write a name, with a prefix if it is an IRI. */
static bool put_name(char *out, size_t size, const kith_graph *graph, const char *name)
{
    char shortened[200];

    return put_field(out, size,
                     kith_graph_short_name(shortened, sizeof shortened, graph, name) > 0 ? shortened
                                                                                          : name);
}

/* A question from the first fact whose names can be typed. */
char *example_question(const char *folder)
{
    char *path = NULL, subject[200], relation[200], text[512], *word = NULL;
    kith_graph *graph = NULL;

    if (asprintf(&path, "%s/graph", folder) < 0)
        return NULL;
    if (kith_graph_open(&graph, path, NULL, NULL) == KITH_OK) {
        kith_facts facts = kith_graph_facts(graph, KITH_TRAIN);
        for (size_t i = 0; i < facts.count && !word; i++)
            if (put_name(subject, sizeof subject, graph,
                         kith_graph_entity_name(graph, facts.at[i].subject)) &&
                put_name(relation, sizeof relation, graph,
                         kith_graph_relation_name(graph, facts.at[i].relation))) {
                snprintf(text, sizeof text, "%s %s ?", subject, relation);
                word = shell_word(text);
            }
    }
    kith_graph_free(graph);
    free(path);
    /* No name can be typed: ask for facts of any entity, which takes probabilities. */
    return word || facts_fitted_on(folder) < 0 ? word : strdup("'? ? ?'");
}
