/* Files that are compressed, or only claim to be: the first bytes decide, not the name. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_file(scratch_path("facts"), data, size);
    try_source(scratch_path("facts"));
    return 0;
}
