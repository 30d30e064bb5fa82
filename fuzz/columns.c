/* Files of facts in columns: as found, as CSV, and with columns chosen by number. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_file(scratch_path("facts.tsv"), data, size);
    open_source(scratch_path("facts.tsv"));
    write_file(scratch_path("facts.csv"), data, size);
    open_source(scratch_path("facts.csv"));
    open_columns(scratch_path("facts.csv"), "2,1,3");
    open_columns(scratch_path("facts.csv"), "item,property,value");
    return 0;
}
