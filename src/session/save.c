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

static kith_status write_fact(FILE *out, const kith_session_fact *fact, size_t number,
                              kith_error *error)
{
    static const char mark[] = "\xef\xbb\xbf";
    kith_status status;

    TRY(check_name(fact->subject, number, error));
    TRY(check_name(fact->relation, number, error));
    TRY(check_name(fact->object, number, error));
    if (number == 0 && strncmp(fact->subject, mark, strlen(mark)) == 0)
        fputs(mark, out); /* readers drop the first mark of a file */
    fprintf(out, "%s\t%s\t%s\n", fact->subject, fact->relation, fact->object);
cleanup:
    return status; /* a failed write is reported when the file is committed */
}

kith_status kith_session_save(const kith_session *s, const char *path, kith_error *error)
{
    kith__new_file file = {0};
    kith_status status;

    if (!s || !path)
        return kith__null_argument(error, __func__);
    TRY(kith__new_file_open(&file, path, error));
    for (size_t i = 0; i < kith_session_fact_count(s); i++) {
        kith_session_fact fact = kith_session_fact_at(s, i);
        TRY(write_fact(file.stream, &fact, i, error));
    }
    TRY(kith__new_file_commit(&file, error));
cleanup:
    kith__new_file_abandon(&file);
    return status;
}
