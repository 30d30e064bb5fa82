/* N-Triples and Turtle, read with serd. IRIs are named by their text without angle brackets, blank
 * nodes as _:name, literals in N-Triples form: "text"@language or "text"^^<type>. rdfs:label and
 * skos:prefLabel are not facts but labels of their subject: the English one is kept, else one
 * without a language, else the first. */

#include <serd/serd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "graph/duplicates.h"
#include "graph/labels.h"
#include "graph/read/fields.h"
#include "graph/read/merge.h"
#include "graph/read/nesting.h"
#include "graph/read/readers.h"

/* KITH__MOST_NESTED levels take a third of MOST_STACK. Anything deeper contains a string that serd
 * and kith end at different places. */
enum { PAGE = 1 << 16, LEAST_FOR_PIECES = 1 << 21, MOST_STACK = 96 << 10 };

/* serd keeps a statement in memory, and some 60 bytes of each one that it cannot read. */
enum { MOST_IN_STATEMENT = 1 << 26, MOST_BAD = 1 << 20, MOST_BAD_LINES = 1000 };

/* Text that grows. */
typedef struct {
    char *at;
    size_t length, capacity;
} text;

typedef struct {
    kith__loader *loader;
    kith__input *input;
    SerdEnv *env;
    SerdReader *serd;
    kith__collector collector;
    text name; /* name of the current node, if it has to be assembled */
    text label;
    text line_text; /* the current line, if lines are read one by one */
    bool turtle;
    kith__nesting nesting;
    size_t statement;   /* bytes since the last one, at least */
    size_t bad;         /* statements that were skipped since serd's reader was made */
    bool ends_here;     /* serd is told that the file does */
    const char *stack;  /* the stack pointer when serd was called */
    kith_status status; /* errors outside serd */
    bool complained;    /* a problem was found since the last check */
    unsigned line;      /* its line, counted from where serd began; 0 if serd has not said */
    char complaint[256];
    bool trying; /* statements are checked but not kept */
    bool ranged; /* only a range of a plain file is read: */
    uint64_t place, end;
    /* For Turtle read byte by byte, so that reading can continue after a bad statement: */
    char buffer[PAGE];
    size_t from, to;
    size_t lines;        /* line ends passed to serd */
    char last, last_ink; /* the last byte, and the last one that is not white space */
    bool ended;
} reading;

/* Report a problem that serd would accept. */
static bool object_to(reading *r, const char *name, size_t length, const char *what)
{
    char quoted[KITH__QUOTED];

    if (!r->complained)
        snprintf(r->complaint, sizeof r->complaint, "%s %s", kith__quote(quoted, name, length),
                 what);
    r->complained = true;
    return false;
}

static void object_to_depth(reading *r)
{
    if (!r->complained)
        snprintf(r->complaint, sizeof r->complaint,
                 "brackets are nested more than %d deep, which kith does not read",
                 KITH__MOST_NESTED);
    r->complained = r->ends_here = true;
}

static bool object_to_length(reading *r)
{
    snprintf(r->complaint, sizeof r->complaint, "it is longer than %d MiB",
             MOST_IN_STATEMENT >> 20);
    r->complained = r->ends_here = true;
    return false;
}

/* ---- bytes for serd ---- */

/* Called each time serd starts on a file. */
static void begin(reading *r, const char *stack)
{
    r->nesting = (kith__nesting){0};
    r->statement = 0;
    r->ends_here = false;
    r->stack = stack;
}

static size_t fill(char *buffer, size_t size, reading *r)
{
    size_t filled = 0, got;

    if (r->ranged && size > r->end - r->place)
        size = (size_t)(r->end - r->place);
    if (size == 0)
        return 0;
    do {
        got = 0;
        r->status = r->ranged ? kith__input_read_at(&got, r->input, buffer + filled, size - filled,
                                                    r->place, r->loader->error)
                              : kith__input_read(&got, r->input, buffer + filled, size - filled,
                                                 r->loader->error);
        filled += got;
        r->place += got;
    } while (r->status == KITH_OK && got > 0 && filled < size);
    return r->status == KITH_OK ? filled : 0;
}

/* Comments are no part of it. False where serd must not read on. */
static bool add_to_statement(reading *r, char byte)
{
    if (!kith__nesting_add(&r->nesting, byte)) {
        object_to_depth(r);
        return false;
    }
    r->statement += r->nesting.state != KITH__IN_COMMENT;
    return r->statement <= MOST_IN_STATEMENT || object_to_length(r);
}

/* Fill a whole page, because serd treats a partial page as the last one and a NUL as the end. */
static size_t give_page(void *buffer, size_t size, size_t count, void *stream)
{
    reading *r = stream;
    size_t filled = r->ends_here ? 0 : fill(buffer, size * count, r);
    const char *bytes = buffer;

    for (size_t i = 0; r->turtle && i < filled; i++)
        if (!add_to_statement(r, bytes[i]))
            filled = i;
    if (!r->turtle && memchr(bytes, '\n', filled))
        r->statement = 0;
    else if (!r->turtle && (r->statement += filled) > MOST_IN_STATEMENT)
        object_to_length(r);
    if (memchr(buffer, '\0', filled))
        object_to(stream, "\0", 1, "is not text");
    return filled;
}

static bool next_byte(reading *r, char *byte)
{
    if (r->from == r->to) {
        r->from = 0;
        r->to = fill(r->buffer, PAGE, r);
        if (r->to == 0) {
            r->ended = true;
            return false;
        }
    }
    *byte = r->last = r->buffer[r->from++];
    if (*byte == '\0') {
        object_to(r, byte, 1, "is not text");
        *byte = '\x01';
    }
    if (*byte == '\n')
        r->lines++;
    else if (*byte != ' ' && *byte != '\t' && *byte != '\r')
        r->last_ink = *byte;
    return true;
}

static size_t give_byte(void *buffer, size_t size, size_t count, void *stream)
{
    reading *r = stream;

    (void)size;
    (void)count;
    return !r->ends_here && next_byte(r, buffer) && add_to_statement(r, *(const char *)buffer);
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

/* A literal's text as in N-Triples, so that a name never holds a tab or a line end. */
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
        if (serd_env_expand(r->env, node, &prefix, &suffix) != SERD_SUCCESS)
            return object_to(r, (const char *)node->buf, node->n_bytes,
                             "has a prefix that was not declared");
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

    if (node->type == SERD_URI && !r->turtle) { /* the most common kind of name is used in place */
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
    if (!done && !r->complained)
        r->status = kith__no_memory(r->loader->error);
    *name = t->at;
    *length = t->length;
    return done;
}

/* An IRI may hold a tab or a line end as \u0009. Few names have any control character. */
static bool breaks_columns(const char *name, size_t length)
{
    unsigned char low = 0;

    for (size_t i = 0; i < length; i++)
        low |= (unsigned char)name[i] < ' ';
    return low &&
           (memchr(name, '\t', length) || memchr(name, '\n', length) || memchr(name, '\r', length));
}

static bool name_checked(const char **name, size_t *length, reading *r, const SerdNode *node,
                         const SerdNode *datatype, const SerdNode *language)
{
    if (!name_node(name, length, r, node, datatype, language))
        return false;
    if (*length == 0)
        return object_to(r, "<>", 2, "is an empty IRI, and there is no @base");
    if (breaks_columns(*name, *length))
        return object_to(r, *name, *length, "holds a tab or a line end");
    return kith__utf8_valid(*name, *length) ||
           object_to(r, *name, *length, "holds a NUL or is not UTF-8");
}

static bool intern(uint32_t *id, reading *r, kith__names *names, const SerdNode *node,
                   const SerdNode *datatype, const SerdNode *language)
{
    const char *name;
    size_t length;

    if (!name_checked(&name, &length, r, node, datatype, language))
        return false;
    *id = kith__names_add(names, name, length, kith__names_hash(name, length));
    if (*id == KITH__NO_ID)
        r->status = kith__no_memory(r->loader->error);
    return *id != KITH__NO_ID;
}

/* ---- labels ---- */

static bool is_label(const char *predicate, size_t length)
{
    static const char *const iris[] = {"http://www.w3.org/2000/01/rdf-schema#label",
                                       "http://www.w3.org/2004/02/skos/core#prefLabel"};

    for (size_t i = 0; i < sizeof iris / sizeof *iris; i++)
        if (length == strlen(iris[i]) && memcmp(predicate, iris[i], length) == 0)
            return true;
    return false;
}

static int language_rank(const SerdNode *language)
{
    const char *tag = language && language->type == SERD_LITERAL ? (const char *)language->buf : "";

    return strcasecmp(tag, "en") == 0           ? 3
           : strncasecmp(tag, "en-", 3) == 0    ? 2
           : tag[0] == '\0'                     ? 1
                                                : 0;
}

/* Labels are written to a single line and column, so line ends and tabs are replaced. */
static bool append_label(text *t, const SerdNode *node)
{
    size_t from = t->length;

    if (!append(t, (const char *)node->buf, node->n_bytes))
        return false;
    for (size_t i = from; i < t->length; i++)
        if (strchr("\t\n\r", t->at[i]))
            t->at[i] = ' ';
    return true;
}

static SerdStatus keep_label(reading *r, const SerdNode *subject, const SerdNode *label,
                             const SerdNode *language)
{
    const char *name;
    size_t length;

    r->label.length = 0;
    if (!name_checked(&name, &length, r, subject, NULL, NULL) ||
        (!kith__utf8_valid((const char *)label->buf, label->n_bytes) &&
         !object_to(r, (const char *)label->buf, label->n_bytes, "holds a NUL or is not UTF-8")))
        return SERD_ERR_UNKNOWN;
    if (r->trying || label->n_bytes == 0)
        return SERD_SUCCESS;
    if (append_label(&r->label, label) &&
        kith__label_set_add(r->loader->labels, name, length, r->label.at, r->label.length,
                            language_rank(language)) == 0)
        return SERD_SUCCESS;
    r->status = kith__no_memory(r->loader->error);
    return SERD_ERR_UNKNOWN;
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
    const char *name;
    size_t length;

    (void)flags;
    (void)graph;
    r->statement = 0;
    if (r->stack && r->stack - (const char *)__builtin_frame_address(0) > MOST_STACK)
        object_to_depth(r);
    if (r->complained)
        return SERD_ERR_UNKNOWN;
    if (object->type == SERD_LITERAL) {
        if (!name_checked(&name, &length, r, predicate, NULL, NULL))
            return SERD_ERR_UNKNOWN;
        if (is_label(name, length))
            return keep_label(r, subject, object, language);
    }
    /* A statement that will be skipped must add no names. */
    if ((r->trying || r->loader->skip_bad) &&
        (!name_checked(&name, &length, r, subject, NULL, NULL) ||
         !name_checked(&name, &length, r, predicate, NULL, NULL) ||
         !name_checked(&name, &length, r, object, datatype, language)))
        return SERD_ERR_UNKNOWN;
    if (r->trying)
        return SERD_SUCCESS;
    if (!intern(&t.subject, r, &g->entities, subject, NULL, NULL) ||
        !intern(&t.relation, r, &g->relations, predicate, NULL, NULL) ||
        !intern(&t.object, r, &g->entities, object, datatype, language))
        return SERD_ERR_UNKNOWN;
    if (kith__collect(&g->splits[KITH_TRAIN], &r->collector, t, NULL)) {
        r->status = kith__no_memory(r->loader->error);
        return SERD_ERR_UNKNOWN;
    }
    return SERD_SUCCESS;
}

static SerdStatus on_base(void *handle, const SerdNode *uri)
{
    reading *r = handle;

    r->statement = 0;
    return serd_env_set_base_uri(r->env, uri);
}

static SerdStatus on_prefix(void *handle, const SerdNode *name, const SerdNode *uri)
{
    reading *r = handle;

    r->statement = 0;
    if (memchr(uri->buf, ':', uri->n_bytes) &&
        kith__prefixes_add(&r->loader->graph->prefixes, (const char *)name->buf, name->n_bytes,
                           (const char *)uri->buf, uri->n_bytes)) {
        r->status = kith__no_memory(r->loader->error);
        return SERD_ERR_UNKNOWN;
    }
    return serd_env_set_prefix(r->env, name, uri);
}

static SerdStatus on_error(void *handle, const SerdError *error)
{
    reading *r = handle;

    if (r->complained) /* the first problem of a line is the helpful one */
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
    return kith__bad_line(r->loader, kith__input_path(r->input), line,
                          "found no valid %s statement: %s", r->turtle ? "Turtle" : "N-Triples",
                          r->complained ? r->complaint : "cannot be read");
}

static SerdReader *reader_new(reading *r)
{
    SerdReader *serd = serd_reader_new(r->turtle ? SERD_TURTLE : SERD_NTRIPLES, r, NULL, on_base,
                                       on_prefix, on_statement, NULL);

    if (serd) {
        serd_reader_set_strict(serd, true);
        serd_reader_set_error_sink(serd, on_error, r);
    }
    return serd;
}

/* After a bad line. A new reader would number the anonymous nodes of Turtle from 1 again. */
static kith_status renew_reader(reading *r)
{
    if (++r->bad < MOST_BAD_LINES)
        return KITH_OK;
    r->bad = 0;
    serd_reader_free(r->serd);
    r->serd = reader_new(r);
    return r->serd ? KITH_OK : kith__no_memory(r->loader->error);
}

/* N-Triples: each line is tried first, so that a bad line adds nothing and cannot affect the next
 * one. */
static kith_status read_line(reading *r, size_t number)
{
    const uint8_t *line = (const uint8_t *)r->line_text.at;

    r->complained = false;
    r->trying = true;
    if (memchr(line, '\0', r->line_text.length - 1))
        object_to(r, "\0", 1, "is not text");
    else if (serd_reader_read_string(r->serd, line) > SERD_FAILURE && !r->complained)
        object_to(r, r->line_text.at, r->line_text.length - 1, "cannot be read");
    r->trying = false;
    if (r->status == KITH_OK && r->complained)
        r->status = complain(r, number);
    if (r->complained)
        return r->status == KITH_OK ? renew_reader(r) : r->status;
    if (r->status == KITH_OK)
        serd_reader_read_string(r->serd, line);
    return r->status;
}

static kith_status read_lines(reading *r)
{
    kith__lines lines;
    size_t number = 0, length;
    char *block;
    kith_status status;

    kith__lines_init(&lines, r->input);
    for (;;) {
        TRY(kith__lines_next(&block, &length, &lines, r->loader->error));
        if (length == 0)
            break;
        const char *at = block + (number == 0 ? kith__skip_bom(block, length) : 0);
        while (at < block + length) {
            kith__field line = kith__next_line(&at, block + length);
            number++;
            if (kith__is_blank(line)) /* serd reads past the end of an empty string */
                continue;
            r->line_text.length = 0;
            if (!append(&r->line_text, line.text, line.length) || !append(&r->line_text, "", 1))
                TRY(kith__no_memory(r->loader->error));
            TRY(read_line(r, number));
        }
    }
cleanup:
    kith__lines_release(&lines);
    return status;
}

/* Turtle: skip to where a statement can begin, the line after one that ends with a full stop. */
static void skip_statement(reading *r)
{
    char byte;
    while (!r->ended && !(r->last == '\n' && r->last_ink == '.'))
        next_byte(r, &byte);
}

/* What cannot be skipped, because serd keeps it in memory. */
static kith_status check_memory(const reading *r)
{
    const char *path = kith__input_path(r->input);

    if (r->statement > MOST_IN_STATEMENT)
        return kith__fail(r->loader->error, KITH_ERR_INPUT,
                          "%s:%zu: found a statement of more than %d MiB, expected RDF in Turtle",
                          path, r->lines + 1, MOST_IN_STATEMENT >> 20);
    if (r->bad == MOST_BAD)
        return kith__fail(r->loader->error, KITH_ERR_INPUT,
                          "%s:%zu: found more than a million statements that are not valid, "
                          "expected RDF in Turtle",
                          path, r->lines + 1);
    return KITH_OK;
}

static kith_status read_statements(reading *r)
{
    kith_status status = KITH_OK;

    while (status == KITH_OK && !r->ended) {
        size_t before = r->lines;
        r->complained = false;
        r->line = 0;
        r->last = '\0';
        begin(r, __builtin_frame_address(0));
        serd_reader_start_source_stream(r->serd, give_byte, stream_failed, r,
                                        (const uint8_t *)kith__input_path(r->input), 1);
        SerdStatus code;
        do
            code = serd_reader_read_chunk(r->serd);
        while (code == SERD_SUCCESS && !r->complained);
        serd_reader_end_stream(r->serd);
        TRY(r->status);
        TRY(check_memory(r));
        if (r->complained || code > SERD_FAILURE) {
            r->bad++;
            status = complain(r, r->line ? before + r->line : r->lines + (r->last != '\n'));
            skip_statement(r);
        }
    }
cleanup:
    return status;
}

static kith_status read_leniently(reading *r)
{
    return r->turtle ? read_statements(r) : read_lines(r);
}

/* Reading by pages is fast but does not give the line of a bad statement, so the file is read
 * again, line by line, up to there. Pipes cannot be read again. */
static kith_status find_bad_line(reading *r)
{
    kith__input *input = r->input, *again = NULL;
    struct stat info;
    kith_status status = KITH_OK;

    if (stat(kith__input_path(input), &info) == 0 && S_ISREG(info.st_mode)) {
        TRY(kith__input_open(&again, kith__input_path(input), r->loader->watch,
                             r->loader->error));
        r->input = again;
        status = read_leniently(r);
        r->input = input;
        TRY(status);
    }
    status = complain(r, r->line);
cleanup:
    kith__input_close(again);
    return status;
}

static kith_status read_strictly(reading *r)
{
    begin(r, __builtin_frame_address(0));
    SerdStatus code = serd_reader_read_source(r->serd, give_page, stream_failed, r,
                                              (const uint8_t *)kith__input_path(r->input), PAGE);
    if (r->status != KITH_OK)
        return r->status;
    return code > SERD_FAILURE || r->complained ? find_bad_line(r) : KITH_OK;
}

/* ---- pieces of a plain N-Triples file, one for each thread ---- */

typedef struct {
    kith__loader loader; /* with its own graph */
    kith__label_set labels;
    reading reading;
    bool failed;
} piece;

static void read_piece(void *context, size_t index)
{
    piece *p = (piece *)context + index;
    reading *r = &p->reading;
    SerdReader *reader = reader_new(r);

    p->failed = !reader;
    if (!reader)
        return;
    SerdStatus code = serd_reader_read_source(reader, give_page, stream_failed, r,
                                              (const uint8_t *)kith__input_path(r->input), PAGE);
    p->failed = code > SERD_FAILURE || r->complained || r->status != KITH_OK;
    serd_reader_free(reader);
}

static kith_status piece_init(piece *p, kith__loader *loader, kith__input *input, uint64_t from,
                              uint64_t nominal)
{
    p->loader = *loader;
    p->loader.error = NULL;
    p->loader.labels = &p->labels;
    p->loader.graph = kith__graph_new();
    if (!p->loader.graph)
        return kith__no_memory(loader->error);
    p->reading = (reading){.loader = &p->loader, .input = input, .ranged = true, .place = from};
    return kith__line_start(&p->reading.end, input, nominal, loader->error);
}

/* `done` is false if some piece met a problem: then nothing has been added, and reading the whole
 * file again will report it. */
static kith_status read_pieces(bool *done, kith__loader *loader, kith__input *input)
{
    size_t count = kith__pool_size(loader->pool);
    uint64_t size = kith__input_size(input), from = 0;
    piece *pieces = kith__calloc(count, sizeof *pieces);
    kith_status status = KITH_OK;

    if (!pieces)
        return kith__no_memory(loader->error);
    for (size_t i = 0; i < count; i++) {
        uint64_t nominal = i + 1 == count ? size + 1 : size / count * (i + 1);
        TRY(piece_init(&pieces[i], loader, input, from, nominal < from ? from : nominal));
        from = pieces[i].reading.end;
    }
    kith__pool_run(loader->pool, read_piece, pieces, count);
    *done = true;
    for (size_t i = 0; i < count; i++)
        *done = *done && !pieces[i].failed;
    for (size_t i = 0; i < count && *done; i++) {
        kith_graph *own = pieces[i].loader.graph;
        TRY(kith__merge_piece(loader, KITH_TRAIN, &own->entities, &own->relations,
                              &own->splits[KITH_TRAIN]));
        loader->graph->report.duplicates += pieces[i].reading.collector.dropped;
        if (kith__label_set_merge(loader->labels, &pieces[i].labels))
            TRY(kith__no_memory(loader->error));
    }
cleanup:
    for (size_t i = 0; i < count; i++) {
        kith_graph_free(pieces[i].loader.graph);
        kith__free(pieces[i].reading.name.at);
        kith__free(pieces[i].reading.label.at);
        kith__label_set_release(&pieces[i].labels);
    }
    kith__free(pieces);
    return status;
}

static kith_status need_facts(const kith__loader *loader, const kith__input *input)
{
    if (loader->graph->splits[KITH_TRAIN].count > 0 || loader->graph->report.bad_lines > 0)
        return KITH_OK;
    return kith__fail(loader->error, KITH_ERR_INPUT, "%s: holds no facts%s, expected at least one",
                      kith__input_path(input), loader->labels->met > 0 ? " but labels" : "");
}

static kith_status read_rdf(kith__loader *loader, kith__input *input, bool turtle)
{
    reading *r = kith__calloc(1, sizeof *r);
    kith_status status = KITH_OK;
    bool done = false;

    if (!r)
        return kith__no_memory(loader->error);
    if (!turtle && !loader->skip_bad && kith__input_size(input) >= LEAST_FOR_PIECES &&
        kith__pool_size(loader->pool) > 1)
        TRY(read_pieces(&done, loader, input));
    if (done) {
        status = need_facts(loader, input);
        goto cleanup;
    }
    r->loader = loader;
    r->input = input;
    r->turtle = turtle;
    r->env = serd_env_new(NULL);
    r->serd = reader_new(r);
    if (!r->env || !r->serd)
        TRY(kith__no_memory(loader->error));
    TRY(loader->skip_bad ? read_leniently(r) : read_strictly(r));
    loader->graph->report.duplicates += r->collector.dropped;
    TRY(need_facts(loader, input));
cleanup:
    serd_reader_free(r->serd);
    serd_env_free(r->env);
    kith__free(r->name.at);
    kith__free(r->label.at);
    kith__free(r->line_text.at);
    kith__free(r);
    return status;
}

/* ---- recognising ---- */

static kith_status read_turtle(kith__loader *loader, kith__input *input)
{
    return read_rdf(loader, input, true);
}

static kith_status read_ntriples(kith__loader *loader, kith__input *input)
{
    return read_rdf(loader, input, false);
}

static bool begins_turtle(const char *begin, size_t length)
{
    kith__field line;

    return kith__first_line(&line, begin, length) &&
           (kith__begins_with(line, "@prefix") || kith__begins_with(line, "@base") ||
            kith__begins_with(line, "prefix ") || kith__begins_with(line, "base "));
}

static bool begins_ntriples(const char *begin, size_t length)
{
    kith__field line;

    if (!kith__first_line(&line, begin, length) ||
        !(line.text[0] == '<' || kith__begins_with(line, "_:")))
        return false;
    return !memchr(line.text, '\t', line.length) || line.text[line.length - 1] == '.';
}

static const char *const turtle_endings[] = {".ttl", ".turtle", NULL};
static const char *const ntriples_endings[] = {".nt", ".ntriples", NULL};

const kith__reader kith__reader_turtle = {.name = "Turtle file",
                                          .endings = turtle_endings,
                                          .begins = begins_turtle,
                                          .read_file = read_turtle};
const kith__reader kith__reader_ntriples = {.name = "N-Triples file",
                                            .endings = ntriples_endings,
                                            .begins = begins_ntriples,
                                            .read_file = read_ntriples};
