/* N-Triples. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_file(scratch_path("facts.nt"), data, size);
    open_source(scratch_path("facts.nt"));
    return 0;
}
