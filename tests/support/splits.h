/* Data sets with unseen entities: an oracle written from the protocol's text. */
#ifndef KITH_TESTS_SPLITS_H
#define KITH_TESTS_SPLITS_H

#include "support.h"

enum { MOST_TRIPLES = 600 };

typedef struct {
    kith_triple at[MOST_TRIPLES];
    size_t count;
} triple_list;

typedef struct {
    triple_list split[KITH_SPLITS]; /* in the source's ids and order */
    bool candidate[MOST_TRIPLES], seen[MOST_TRIPLES], unseen[MOST_TRIPLES];
    size_t candidates, unseens, dropped, known;
} outcome;

void list_add(triple_list *l, kith_triple t);
bool same_triple(kith_triple a, kith_triple b);
bool list_holds(const triple_list *l, kith_triple t);
void list_true(triple_list *l, const kith_graph *graph, kith_split split);
void expect_split(outcome *o, const triple_list *train, const triple_list *dev,
                  const triple_list *sampled, kith_strategy strategy, uint32_t entities);
void list_split(triple_list *l, const kith_graph *made, const kith_graph *source, kith_split split);
void check_list(const triple_list *found, const triple_list *expected, const kith_graph *source);

/* The report goes into the caller's struct, and is left alone where there is none. */
kith_status make_split(kith_graph **made, kith_dataset_report *copy, const kith_graph *source,
                       const kith_dataset_options *options, kith_error *error);

kith_graph *split_of(kith_dataset_report *report, const kith_graph *source,
                     const kith_dataset_options *options);

typedef struct {
    const kith_graph *source, *made;
    const kith_dataset_options *options;
    kith_dataset_report report;
    outcome expected;
    triple_list split[KITH_SPLITS];
} trial;

/* All test facts are sampled, so that the oracle knows which. */
void over_random_splits(void (*verify)(const trial *t), bool labels);

kith_graph *middle_sized_graph(void);
const char *saved_graph(const kith_graph *graph, const kith_save_options *options);

#endif
