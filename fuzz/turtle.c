/* Turtle. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_file(scratch_path("facts.ttl"), data, size);
    try_source(scratch_path("facts.ttl"));
    return 0;
}
