/* Making the folder of a new run. */
#include <sys/stat.h>

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
    kith__new_folder work = {0};
    char *inner = NULL;
    kith_status status;

    TRY(check_target(folder, error));
    TRY(kith__new_folder_open(&work, folder, error));
    inner = kith__path_join(work.temporary, "graph");
    if (!inner)
        TRY(kith__no_memory(error));
    TRY(kith_graph_save(graph, inner, &ids, error));
    TRY(kith__config_save(work.temporary, graph, settings, derived, error));
    TRY(kith__sync_folder(work.temporary, error));
    TRY(kith__new_folder_commit(&work, false, error));
cleanup:
    kith__new_folder_abandon(&work);
    kith__free(inner);
    return status;
}
