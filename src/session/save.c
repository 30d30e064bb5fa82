/* Writes the facts of a session to a file that kith reads. */
#include <string.h>

#include "core/files.h"
#include "session/session.h"

/* A name that does not fit into columns would be read back as something else. */
static kith_status check_name(const char *name, size_t fact, kith_error *error)
{
    char text[KITH__QUOTED];
    size_t length = strlen(name);

    if (strpbrk(name, "\t\n") || name[length - 1] == '\r')
        return kith__fail(
            error, KITH_ERR_INPUT,
            "fact %zu cannot be written in columns: the name %s holds a tab or a line "
            "end",
            fact + 1, kith__quote(text, name, length));
    return KITH_OK;
}

/* With a header row, a name that begins with a quote is read as a quoted one. */
static void write_name(FILE *out, const char *name, char end)
{
    bool quoted = name[0] == '"';

    if (quoted)
        putc('"', out);
    for (const char *c = name; *c; c++) {
        if (quoted && *c == '"')
            putc('"', out);
        putc(*c, out);
    }
    if (quoted)
        putc('"', out);
    putc(end, out);
}

static kith_status write_fact(FILE *out, const kith_session_fact *fact, size_t number,
                              kith_error *error)
{
    kith_status status;

    TRY(check_name(fact->subject, number, error));
    TRY(check_name(fact->relation, number, error));
    TRY(check_name(fact->object, number, error));
    write_name(out, fact->subject, '\t');
    write_name(out, fact->relation, '\t');
    write_name(out, fact->object, '\n');
cleanup:
    return status; /* a failed write is reported when the file is committed */
}

static bool has_relation(const kith_session *s, const char *name)
{
    uint32_t relation = kith__session_find_relation(s, name);

    for (size_t i = 0; i < s->fact_count; i++)
        if (s->facts[i].relation == relation)
            return true;
    return false;
}

/* Without a header row, the first fact could be taken for one: "geneC interaction A". A row is
 * taken for a header only if no fact has its word for the relation as its relation. */
static void write_header(FILE *out, const kith_session *s)
{
    static const char *const words[] = {"relation", "predicate", "property", "edge"};
    size_t i = 0;

    while (i + 1 < sizeof words / sizeof *words && has_relation(s, words[i]))
        i++;
    if (s->fact_count > 0)
        fprintf(out, "subject\t%s\tobject\n", words[i]);
}

kith_status kith_session_save(const kith_session *s, const char *path, kith_error *error)
{
    kith__new_file file = {0};
    kith_status status;

    if (!s || !path)
        return kith__null_argument(error, __func__);
    TRY(kith__new_file_open(&file, path, error));
    write_header(file.stream, s);
    for (size_t i = 0; i < kith_session_fact_count(s); i++) {
        kith_session_fact fact = kith_session_fact_at(s, i);
        TRY(write_fact(file.stream, &fact, i, error));
    }
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    return status;
}
