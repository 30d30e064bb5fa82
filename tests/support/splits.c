#include "splits.h"

void list_add(triple_list *l, kith_triple t)
{
    assert_true(l->count < MOST_TRIPLES);
    l->at[l->count++] = t;
}

bool same_triple(kith_triple a, kith_triple b)
{
    return a.subject == b.subject && a.relation == b.relation && a.object == b.object;
}

bool list_holds(const triple_list *l, kith_triple t)
{
    for (size_t i = 0; i < l->count; i++)
        if (same_triple(l->at[i], t))
            return true;
    return false;
}

void list_true(triple_list *l, const kith_graph *graph, kith_split split)
{
    kith_facts f = kith_graph_facts(graph, split);

    for (size_t i = 0; i < f.count; i++)
        if (!f.truth || f.truth[i])
            list_add(l, f.at[i]);
}

/* Candidates, the new train, who is seen, aux, who is unseen. */
static void part_entities(outcome *o, const triple_list *train, const triple_list *sampled,
                          kith_strategy strategy)
{
    for (size_t i = 0; i < sampled->count; i++) {
        if (strategy == KITH_SUBJECT || strategy == KITH_BOTH)
            o->candidate[sampled->at[i].subject] = true;
        if (strategy == KITH_OBJECT || strategy == KITH_BOTH)
            o->candidate[sampled->at[i].object] = true;
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if (!o->candidate[t.subject] && !o->candidate[t.object]) {
            list_add(&o->split[KITH_TRAIN], t);
            o->seen[t.subject] = o->seen[t.object] = true;
        }
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if ((o->candidate[t.subject] && o->seen[t.object]))
            o->unseen[t.subject] = true;
        if ((o->candidate[t.object] && o->seen[t.subject]))
            o->unseen[t.object] = true;
    }
    for (size_t i = 0; i < train->count; i++) {
        kith_triple t = train->at[i];
        if ((o->unseen[t.subject] && o->seen[t.object]) ||
            (o->seen[t.subject] && o->unseen[t.object]))
            list_add(&o->split[KITH_AUX], t);
    }
}

static bool asks_about_unseen(const outcome *o, kith_triple t, kith_strategy strategy)
{
    bool subject_new = o->unseen[t.subject], object_new = o->unseen[t.object];

    if (strategy == KITH_SUBJECT)
        return subject_new && !object_new && o->seen[t.object];
    if (strategy == KITH_OBJECT)
        return object_new && !subject_new && o->seen[t.subject];
    return (subject_new || object_new) && (subject_new || o->seen[t.subject]) &&
           (object_new || o->seen[t.object]);
}

/* A fact that train or aux has already cannot be in another part. */
static void keep_unless_known(outcome *o, kith_split split, kith_triple t)
{
    if (list_holds(&o->split[KITH_TRAIN], t) || list_holds(&o->split[KITH_AUX], t))
        o->known++;
    else
        list_add(&o->split[split], t);
}

void expect_split(outcome *o, const triple_list *train, const triple_list *dev,
                  const triple_list *sampled, kith_strategy strategy, uint32_t entities)
{
    memset(o, 0, sizeof *o);
    part_entities(o, train, sampled, strategy);
    for (size_t i = 0; i < dev->count; i++)
        if (o->seen[dev->at[i].subject] && o->seen[dev->at[i].object])
            keep_unless_known(o, KITH_DEV, dev->at[i]);
    for (size_t i = 0; i < sampled->count; i++)
        if (asks_about_unseen(o, sampled->at[i], strategy))
            keep_unless_known(o, KITH_TEST, sampled->at[i]);
    for (uint32_t e = 0; e < entities; e++) {
        o->candidates += o->candidate[e];
        o->unseens += o->unseen[e];
        o->dropped += !o->seen[e] && !o->unseen[e];
    }
}

static kith_triple in_source(const kith_graph *made, const kith_graph *source, kith_triple t)
{
    kith_triple out;

    assert_int_equal(
        kith_graph_find_entity(&out.subject, source, kith_graph_entity_name(made, t.subject)),
        KITH_OK);
    assert_int_equal(
        kith_graph_find_relation(&out.relation, source, kith_graph_relation_name(made, t.relation)),
        KITH_OK);
    assert_int_equal(
        kith_graph_find_entity(&out.object, source, kith_graph_entity_name(made, t.object)),
        KITH_OK);
    return out;
}

void list_split(triple_list *l, const kith_graph *made, const kith_graph *source, kith_split split)
{
    kith_facts f = kith_graph_facts(made, split);

    l->count = 0;
    for (size_t i = 0; i < f.count; i++)
        list_add(l, in_source(made, source, f.at[i]));
}

void check_list(const triple_list *found, const triple_list *expected, const kith_graph *source)
{
    for (size_t i = 0; i < found->count && i < expected->count; i++)
        if (!same_triple(found->at[i], expected->at[i]))
            fail_msg("fact %zu: found %s %s %s, expected %s %s %s", i,
                     kith_graph_entity_name(source, found->at[i].subject),
                     kith_graph_relation_name(source, found->at[i].relation),
                     kith_graph_entity_name(source, found->at[i].object),
                     kith_graph_entity_name(source, expected->at[i].subject),
                     kith_graph_relation_name(source, expected->at[i].relation),
                     kith_graph_entity_name(source, expected->at[i].object));
    assert_int_equal(found->count, expected->count);
}

kith_status make_split(kith_graph **made, kith_dataset_report *copy, const kith_graph *source,
                       const kith_dataset_options *options, kith_error *error)
{
    kith_dataset_report *report = NULL;
    kith_status status = kith_dataset_make(made, copy ? &report : NULL, source, options, error);

    if (report)
        *copy = *report;
    kith_dataset_report_free(report);
    return status;
}

kith_graph *split_of(kith_dataset_report *report, const kith_graph *source,
                     const kith_dataset_options *options)
{
    kith_graph *made = NULL;
    kith_error error = {KITH_OK, ""};

    if (make_split(&made, report, source, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a split", error.message);
    return made;
}

/* A split that leaves nothing to train on is refused; such graphs are passed over. */
static bool try_split(trial *t, kith_graph *source, const kith_dataset_options *options)
{
    triple_list train = {.count = 0}, dev = {.count = 0}, sampled = {.count = 0};
    kith_graph *made = NULL;
    kith_error error;

    list_true(&train, source, KITH_TRAIN);
    list_true(&dev, source, KITH_DEV);
    list_true(&sampled, source, KITH_TEST);
    expect_split(&t->expected, &train, &dev, &sampled, options->strategy,
                 kith_graph_entity_count(source));
    kith_status status = make_split(&made, &t->report, source, options, &error);
    if (sampled.count == 0 || t->expected.split[KITH_TRAIN].count == 0) {
        assert_int_equal(status, KITH_ERR_ARGUMENT);
        return false;
    }
    if (status != KITH_OK)
        fail_msg("found the error \"%s\", expected a split", error.message);
    t->source = source;
    t->made = made;
    t->options = options;
    for (int split = 0; split < KITH_SPLITS; split++)
        list_split(&t->split[split], made, source, split);
    return true;
}

void over_random_splits(void (*verify)(const trial *t), bool labels)
{
    static trial t;
    kith__rng rng;
    unsigned tried = 0;

    kith__rng_init(&rng, 31, 0);
    for (unsigned round = 0; round < 100; round++) {
        random_shape shape = {.entities = 8 + round % 60,
                              .relations = 1 + round % 6,
                              .train = 20 + round,
                              .dev = 3 + round % 20,
                              .test = 1 + round % 9,
                              .aux = round % 4,
                              .labels = round % 4 == 1,
                              .overlap = round % 3 == 0,
                              .maps = round % 5 == 0};
        kith_dataset_options options;
        kith_dataset_options_init(&options);
        options.strategy = (kith_strategy)(round % 3);
        options.rate = 100;
        options.labels = labels;
        options.seed = round;
        kith_graph *source = opened_with(random_folder(&rng, &shape), 1, false);
        if (try_split(&t, source, &options)) {
            verify(&t);
            kith_graph_free((kith_graph *)t.made);
            tried++;
        }
        kith_graph_free(source);
    }
    assert_true(tried > 60);
}

kith_graph *middle_sized_graph(void)
{
    kith__rng rng;
    random_shape shape = {150, 6, 900, 60, 60, 0};

    kith__rng_init(&rng, 51, 0);
    return opened(random_folder(&rng, &shape));
}

const char *saved_graph(const kith_graph *graph, const kith_save_options *options)
{
    const char *parent = new_folder(), *folder = keep(format("%s/out", parent));
    kith_error error = {KITH_OK, ""};

    if (kith_graph_save(graph, folder, options, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a folder", error.message);
    assert_int_equal(entries(parent), 1); /* nothing is left beside it */
    return folder;
}
