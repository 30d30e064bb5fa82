/* N-Triples. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_input(scratch_path("facts.nt"), data, size);
    try_source(scratch_path("facts.nt"));
    return 0;
}
