/* history.jsonl: one line per epoch. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/files.h"
#include "core/mem.h"
#include "core/numbers.h"
#include "graph/graph.h"
#include "run/run.h"

kith_status kith__run_log(const char *folder, const kith_progress *progress, const char *metric,
                          kith_error *error)
{
    char *path = kith__path_join(folder, "history.jsonl");
    FILE *out = path ? kith__regular_open(path, true) : NULL;
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    locale_t before = kith__plain_numbers();
    if (out) {
        fprintf(out, "{\"epoch\": %u, \"loss\": %.9g, \"seconds\": %.6g", progress->epoch,
                progress->loss, progress->seconds);
        if (progress->evaluated)
            fprintf(out, ", \"%s\": %.9g", metric, progress->dev);
        fprintf(out, "}\n");
    }
    kith__usual_numbers(before);
    bool failed = !out || ferror(out);
    if ((out && fclose(out) != 0) || failed)
        status = kith__fail(error, KITH_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
    kith__free(path);
    return status;
}

kith_status kith__run_cut_log(const char *folder, uint32_t epoch, kith_error *error)
{
    char *path = kith__path_join(folder, "history.jsonl"), *line = NULL;
    size_t capacity = 0;
    kith__new_file file = {0};
    FILE *in = path ? kith__regular_open(path, false) : NULL;
    kith_status status = KITH_OK;

    if (!path)
        return kith__no_memory(error);
    if (!in)
        goto cleanup; /* nothing was logged yet */
    TRY(kith__new_file_replace(&file, path, error));
    while (getline(&line, &capacity, in) > 0) {
        json_t *entry = json_loads(line, 0, NULL);
        json_int_t at = json_integer_value(json_object_get(entry, "epoch"));
        line[strcspn(line, "\n")] = '\0';
        if (entry && at > 0 && at <= epoch) /* an incomplete line does not count */
            fprintf(file.stream, "%s\n", line);
        json_decref(entry);
    }
    TRY(kith__new_file_commit(&file, error));
cleanup:
    if (in)
        fclose(in);
    free(line);
    kith__new_file_abandon(&file);
    kith__free(path);
    return status;
}
