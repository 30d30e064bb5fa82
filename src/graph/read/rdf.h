/* N-Triples and Turtle, through serd. */
#ifndef KITH_GRAPH_READ_RDF_H
#define KITH_GRAPH_READ_RDF_H

#include "graph/graph.h"
#include "graph/read/input.h"

/* Read all statements into train. IRIs are named by their text without angle brackets, blank nodes
 * as _:name, literals in N-Triples form: "text"@language or "text"^^<type>. */
kith_status kith__read_rdf(kith__loader *loader, kith__input *input, bool turtle);

#endif
