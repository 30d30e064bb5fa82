/* A single file of facts in columns: the fallback if no other reader recognises the file. */
#include "graph/read/readers.h"
#include "graph/read/table.h"

static bool begins(const char *text, size_t length)
{
    (void)text;
    (void)length;
    return true;
}

static kith_status read_file(kith__loader *loader, kith__input *input)
{
    const kith__table_form names = {
        .entities = KITH__NEW_NAMES, .relations = KITH__NEW_NAMES, .any_shape = true};
    kith__shape shape;
    kith_status status = kith__read_table(loader, input, KITH_TRAIN, &names, &shape);

    if (status == KITH_OK)
        kith__shape_text(loader->graph->layout, sizeof loader->graph->layout,
                         kith__reader_columns.name, &shape);
    return status;
}

static const char *const endings[] = {".tsv", ".txt", ".csv", NULL};

const kith__reader kith__reader_columns = {.name = "file of triples in columns",
                                           .endings = endings,
                                           .begins = begins,
                                           .read_file = read_file};
