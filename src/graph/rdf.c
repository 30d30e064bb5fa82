#include "graph/rdf.h"

#include <serd/serd.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"

enum { PAGE = 1 << 16 };

/* A piece of text that grows. */
typedef struct {
    char *at;
    size_t length, capacity;
} text;

typedef struct {
    kith__loader *loader;
    kith__input *input;
    SerdEnv *env;
    text name; /* of the node at hand, where it has to be put together */
    bool turtle;
    kith_status status; /* what went wrong outside serd */
    bool complained;    /* serd found something wrong since the last look */
    unsigned line;      /* where, counted from where serd began */
    char complaint[256];
    /* Only with skip_bad, when bytes are handed over one at a time so that reading can go on
     * behind a bad line: */
    char buffer[PAGE];
    size_t from, to;
    size_t lines; /* line ends handed over */
    char last, last_ink; /* the last byte, and the last that was not blank */
    bool ended;
} reading;

/* ---- bytes for serd ---- */

static size_t give_page(void *buffer, size_t size, size_t count, void *stream)
{
    reading *r = stream;
    size_t got = 0;
    kith_status status = kith__input_read(&got, r->input, buffer, size * count, r->loader->error);
    if (status != KITH_OK)
        r->status = status;
    return status == KITH_OK ? got : 0;
}

static bool next_byte(reading *r, char *byte)
{
    if (r->from == r->to) {
        r->from = 0;
        r->to = give_page(r->buffer, 1, PAGE, r);
        if (r->to == 0) {
            r->ended = true;
            return false;
        }
    }
    *byte = r->last = r->buffer[r->from++];
    if (*byte == '\n')
        r->lines++;
    else if (*byte != ' ' && *byte != '\t' && *byte != '\r')
        r->last_ink = *byte;
    return true;
}

static size_t give_byte(void *buffer, size_t size, size_t count, void *stream)
{
    (void)size;
    (void)count;
    return next_byte(stream, buffer) ? 1 : 0;
}

static int stream_failed(void *stream)
{
    return ((reading *)stream)->status != KITH_OK;
}

/* ---- names of nodes ---- */

static bool append(text *t, const char *bytes, size_t length)
{
    if (kith__reserve(&t->at, &t->capacity, t->length + length, 1))
        return false;
    if (length > 0)
        memcpy(t->at + t->length, bytes, length);
    t->length += length;
    return true;
}

/* A literal's text as N-Triples writes it, so that a name never holds a tab or a line end. */
static bool append_escaped(text *t, const char *bytes, size_t length)
{
    static const char special[] = "\t\b\n\r\f\"\\", letters[] = "tbnrf\"\\";
    size_t done = 0;

    for (size_t i = 0; i < length; i++) {
        const char *found = bytes[i] ? strchr(special, bytes[i]) : NULL;
        if (!found)
            continue;
        char escape[2] = {'\\', letters[found - special]};
        if (!append(t, bytes + done, i - done) || !append(t, escape, 2))
            return false;
        done = i + 1;
    }
    return append(t, bytes + done, length - done);
}

static bool append_expanded(text *t, reading *r, const SerdNode *node)
{
    if (node->type == SERD_CURIE) {
        SerdChunk prefix, suffix;
        if (serd_env_expand(r->env, node, &prefix, &suffix) != SERD_SUCCESS) {
            char quoted[KITH__QUOTED];
            r->status = kith__fail(r->loader->error, KITH_ERR_INPUT,
                                   "%s: found %s, whose prefix was not declared",
                                   kith__input_path(r->input),
                                   kith__quote(quoted, (const char *)node->buf, node->n_bytes));
            return false;
        }
        return append(t, (const char *)prefix.buf, prefix.len) &&
               append(t, (const char *)suffix.buf, suffix.len);
    }
    if (node->type == SERD_URI && r->turtle) {
        SerdNode whole = serd_env_expand_node(r->env, node);
        bool done = whole.buf ? append(t, (const char *)whole.buf, whole.n_bytes)
                              : append(t, (const char *)node->buf, node->n_bytes);
        serd_node_free(&whole);
        return done;
    }
    return append(t, (const char *)node->buf, node->n_bytes);
}

static bool append_literal(text *t, reading *r, const SerdNode *node, const SerdNode *datatype,
                           const SerdNode *language)
{
    if (!append(t, "\"", 1) || !append_escaped(t, (const char *)node->buf, node->n_bytes) ||
        !append(t, "\"", 1))
        return false;
    if (language && language->type == SERD_LITERAL)
        return append(t, "@", 1) && append(t, (const char *)language->buf, language->n_bytes);
    if (datatype && datatype->type != SERD_NOTHING)
        return append(t, "^^<", 3) && append_expanded(t, r, datatype) && append(t, ">", 1);
    return true;
}

static bool name_node(const char **name, size_t *length, reading *r, const SerdNode *node,
                      const SerdNode *datatype, const SerdNode *language)
{
    text *t = &r->name;
    bool done;

    if (node->type == SERD_URI && !r->turtle) { /* the commonest kind is named in place */
        *name = (const char *)node->buf;
        *length = node->n_bytes;
        return true;
    }
    t->length = 0;
    if (node->type == SERD_LITERAL)
        done = append_literal(t, r, node, datatype, language);
    else if (node->type == SERD_BLANK)
        done = append(t, "_:", 2) && append(t, (const char *)node->buf, node->n_bytes);
    else
        done = append_expanded(t, r, node);
    if (!done && r->status == KITH_OK)
        r->status = kith__no_memory(r->loader->error);
    *name = t->at;
    *length = t->length;
    return done;
}

static bool intern(uint32_t *id, reading *r, kith__names *names, const SerdNode *node,
                   const SerdNode *datatype, const SerdNode *language)
{
    const char *name;
    size_t length;

    if (!name_node(&name, &length, r, node, datatype, language))
        return false;
    if (!kith__utf8_valid(name, length)) {
        char quoted[KITH__QUOTED];
        r->complained = true;
        snprintf(r->complaint, sizeof r->complaint, "%s holds a NUL or is not UTF-8",
                 kith__quote(quoted, name, length));
        return false;
    }
    *id = kith__names_add(names, name, length, kith__names_hash(name, length));
    if (*id == KITH__NO_ID)
        r->status = kith__no_memory(r->loader->error);
    return *id != KITH__NO_ID;
}

/* ---- what serd calls ---- */

static SerdStatus on_statement(void *handle, SerdStatementFlags flags, const SerdNode *graph,
                               const SerdNode *subject, const SerdNode *predicate,
                               const SerdNode *object, const SerdNode *datatype,
                               const SerdNode *language)
{
    reading *r = handle;
    kith_graph *g = r->loader->graph;
    kith_triple t;

    (void)flags;
    (void)graph;
    if (!intern(&t.subject, r, &g->entities, subject, NULL, NULL) ||
        !intern(&t.relation, r, &g->relations, predicate, NULL, NULL) ||
        !intern(&t.object, r, &g->entities, object, datatype, language))
        return SERD_FAILURE;
    if (kith__facts_add(&g->parts[KITH_TRAIN], t)) {
        r->status = kith__no_memory(r->loader->error);
        return SERD_FAILURE;
    }
    return SERD_SUCCESS;
}

static SerdStatus on_base(void *handle, const SerdNode *uri)
{
    return serd_env_set_base_uri(((reading *)handle)->env, uri);
}

static SerdStatus on_prefix(void *handle, const SerdNode *name, const SerdNode *uri)
{
    return serd_env_set_prefix(((reading *)handle)->env, name, uri);
}

static SerdStatus on_error(void *handle, const SerdError *error)
{
    reading *r = handle;

    if (r->complained) /* the first complaint about a line is the one that helps */
        return SERD_SUCCESS;
    r->complained = true;
    r->line = error->line;
    vsnprintf(r->complaint, sizeof r->complaint, error->fmt, *error->args);
    size_t length = strlen(r->complaint);
    while (length > 0 && r->complaint[length - 1] == '\n')
        r->complaint[--length] = '\0';
    return SERD_SUCCESS;
}

/* ---- reading ---- */

static kith_status complain(reading *r, size_t line)
{
    return kith__bad_line(r->loader, kith__input_path(r->input), line, "found no %s statement: %s",
                          r->turtle ? "Turtle" : "N-Triples",
                          r->complained ? r->complaint : "cannot be read");
}

static kith_status read_strictly(reading *r, SerdReader *reader)
{
    SerdStatus code = serd_reader_read_source(
        reader, give_page, stream_failed, r, (const uint8_t *)kith__input_path(r->input), PAGE);
    if (r->status != KITH_OK)
        return r->status;
    return code > SERD_FAILURE || r->complained ? complain(r, r->line) : KITH_OK;
}

/* Go to where a statement can begin again: the next line, for Turtle the next line after one that
 * ends with a full stop. */
static void skip_statement(reading *r)
{
    char byte;
    while (!r->ended && !(r->last == '\n' && (!r->turtle || r->last_ink == '.')))
        next_byte(r, &byte);
}

static kith_status read_leniently(reading *r, SerdReader *reader)
{
    kith_status status = KITH_OK;

    while (status == KITH_OK && !r->ended) {
        size_t before = r->lines;
        r->complained = false;
        r->last = '\0';
        serd_reader_start_source_stream(reader, give_byte, stream_failed, r,
                                        (const uint8_t *)kith__input_path(r->input), 1);
        SerdStatus code;
        do
            code = serd_reader_read_chunk(reader);
        while (code == SERD_SUCCESS && !r->complained);
        serd_reader_end_stream(reader);
        if (r->status != KITH_OK)
            return r->status;
        if (r->complained || code > SERD_FAILURE) {
            status = complain(r, r->complained ? before + r->line : r->lines + 1);
            skip_statement(r);
        }
    }
    return status;
}

kith_status kith__read_rdf(kith__loader *loader, kith__input *input, bool turtle)
{
    reading *r = kith__calloc(1, sizeof *r);
    SerdReader *reader = NULL;
    kith_status status = KITH_OK;

    if (!r)
        return kith__no_memory(loader->error);
    r->loader = loader;
    r->input = input;
    r->turtle = turtle;
    r->env = serd_env_new(NULL);
    reader = serd_reader_new(turtle ? SERD_TURTLE : SERD_NTRIPLES, r, NULL, on_base, on_prefix,
                             on_statement, NULL);
    if (!r->env || !reader)
        TRY(kith__no_memory(loader->error));
    serd_reader_set_strict(reader, true);
    serd_reader_set_error_sink(reader, on_error, r);
    TRY(loader->skip_bad ? read_leniently(r, reader) : read_strictly(r, reader));
    if (loader->graph->parts[KITH_TRAIN].count == 0 && loader->graph->bad_lines == 0)
        TRY(kith__fail(loader->error, KITH_ERR_INPUT, "%s: holds no facts, expected at least one",
                       kith__input_path(input)));
cleanup:
    serd_reader_free(reader);
    serd_env_free(r->env);
    kith__free(r->name.at);
    kith__free(r);
    return status;
}
