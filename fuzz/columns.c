/* Files of facts in columns. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_file(scratch_path("facts.tsv"), data, size);
    open_source(scratch_path("facts.tsv"));
    return 0;
}
