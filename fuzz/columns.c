/* Files of facts in columns: as found, as CSV, and with columns chosen by number. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scratch_folder();
    write_input(scratch_path("facts.tsv"), data, size);
    try_source(scratch_path("facts.tsv"));
    if (size > 0 && data[0] == '\f') /* it was repeated */
        return 0;
    write_input(scratch_path("facts.csv"), data, size);
    try_source(scratch_path("facts.csv"));
    try_columns(scratch_path("facts.csv"), "2,1,3");
    try_columns(scratch_path("facts.csv"), "item,property,value");
    return 0;
}
