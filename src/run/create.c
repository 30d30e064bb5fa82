/* Making the folder of a new run. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "core/mem.h"
#include "graph/graph.h"
#include "run/config.h"
#include "run/run.h"

static kith_status check_target(const char *folder, kith_error *error)
{
    struct stat info;

    if (stat(folder, &info) != 0)
        return KITH_OK; /* making the folder will say what is wrong, if anything */
    if (kith__path_exists(folder, "config.json"))
        return kith__fail(error, KITH_ERR_ARGUMENT,
                          "%s: holds a run already; resume it, or choose another name", folder);
    return KITH_OK;
}

kith_status kith__run_create(const char *folder, const kith_graph *graph,
                             const kith_settings *settings, uint64_t derived, kith_error *error)
{
    const kith_save_options ids = {.ids = 1};
    char *work = kith__name_beside(folder), *inner = work ? kith__path_join(work, "graph") : NULL;
    bool made = false;
    kith_status status = KITH_OK;

    if (!inner)
        TRY(kith__no_memory(error));
    TRY(check_target(folder, error));
    made = mkdir(work, 0777) == 0;
    if (!made && errno == EEXIST) { /* left by a process with the same number that was killed */
        kith__remove_folder(inner);
        kith__remove_folder(work);
        made = mkdir(work, 0777) == 0;
    }
    if (!made)
        TRY(kith__fail(error, KITH_ERR_IO, "%s: cannot make a folder: %s", folder,
                       strerror(errno)));
    TRY(kith_graph_save(graph, inner, &ids, error));
    TRY(kith__config_save(work, graph, settings, derived, error));
    TRY(kith__sync_folder(work, error));
    TRY(kith__place_folder(work, folder, false, error));
cleanup:
    if (status != KITH_OK && made) {
        kith__remove_folder(inner);
        kith__remove_folder(work);
    }
    kith__free(work);
    kith__free(inner);
    return status;
}
