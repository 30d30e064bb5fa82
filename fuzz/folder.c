/* Folders: splits as names or ids, OpenKE, WordNet; the files decide which. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unpack(data, size);
    try_source(scratch_folder_kept());
    return 0;
}
