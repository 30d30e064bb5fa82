/* Files that are compressed, or only claim to be: the first bytes decide, and the name must
 * agree. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"facts", "facts.tsv.gz", "facts.tsv.zst"};

    scratch_folder();
    for (int i = 0; i < (size < 1024 ? 3 : 1); i++) { /* small inputs decompress to little */
        write_file(scratch_path(names[i]), data, size);
        try_source(scratch_path(names[i]));
    }
    return 0;
}
