/* kith: inductive link prediction, for entities added to a knowledge graph after training.
 *
 * This is the one header to include. Link with `pkg-config --libs kith`.
 *
 * Conventions
 *   - Calls that can fail return a kith_status; outputs come first in the argument list and are
 *     written only on success. The message goes into the caller's kith_error, which may be NULL.
 *   - Free what calls named _open, _new, _make or _finish return with the matching _free, and
 *     results (below) likewise; freeing NULL is fine. Everything else that a call returns belongs
 *     to its object and lives as long as that object.
 *   - An id, split or kind that is out of range, or NULL for a name, is KITH_ERR_ARGUMENT, unless
 *     the call documents another error. Calls that return no status return NULL, 0 or an empty
 *     list.
 *   - Options begin with `size`: sizeof the struct as the caller knows it. X_init sets it together
 *     with the defaults. In C it is a macro that passes the size; a binding for another language
 *     calls the function of the same name. Fields beyond `size` take their defaults, so a program
 *     that was compiled with an older header still works. A size of 0 means the struct of version
 *     0.2.0. NULL for options means all defaults.
 *   - Results are allocated by the library and freed by one call that is named after their type:
 *     kith_answers_free for kith_answers. Later versions may append members to them. Lists in them
 *     are arrays of pointers, so that elements can grow too. Small structs of ids, names and views
 *     that are passed by value (kith_triple, kith_neighbor, kith_facts, kith_question ...) and
 *     kith_error do not change.
 *   - The library never prints, exits or aborts, and has no global state.
 *
 * Threads
 *   Two calls may run at once if neither gets a non-const pointer to an object that the other
 *   uses. So:
 *   - a kith_graph and a result do not change: any number of threads may read them, until one frees
 *     them;
 *   - kith_model: any number of threads may use one at once, by the calls that take it as const, by
 *     sessions, and by kith_session_new and kith_model_set_cache, which lock it. kith_evaluate and
 *     kith_model_score of one model take turns. When kith_model_free is called, no other call may
 *     use the model;
 *   - kith_session, kith_builder, kith_settings: one thread at a time, for calls that take them as
 *     const too. Any number of sessions may share a model, each on its own thread;
 *   - training locks its folder: a second training of one run fails, in this process or another;
 *   - a kith_watch_call is called by one thread at a time, which need not be the caller's.
 *   Calls about names, versions and tables that take no object (kith_version, kith_part_name,
 *   kith_settings_preset ...) are safe at any time. */
#ifndef KITH_KITH_H
#define KITH_KITH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KITH_API __attribute__((visibility("default")))

/* ---- status and errors ------------------------------------------------------------------- */

typedef enum kith_status {
    KITH_OK = 0,
    KITH_ERR_MEMORY,   /* an allocation failed */
    KITH_ERR_IO,       /* reading or writing failed in the operating system */
    KITH_ERR_INPUT,    /* the content of a file is invalid */
    KITH_ERR_ARGUMENT, /* an argument of the call is invalid */
    KITH_ERR_NOT_FOUND, /* a name or an id does not exist */
    KITH_ERR_DIVERGED,  /* training produced a number that is not finite */
    KITH_ERR_STOPPED    /* the caller's kith_watch_call asked to stop */
} kith_status;

/* A human-readable message: where, what was found, what was expected. */
typedef struct kith_error {
    kith_status status;
    char message[1024];
} kith_error;

/* The version of this header. KITH_VERSION is a single number, for comparisons: 0.2.0 is 200. */
#define KITH_VERSION_MAJOR 0
#define KITH_VERSION_MINOR 2
#define KITH_VERSION_PATCH 0
#define KITH_VERSION (KITH_VERSION_MAJOR * 10000 + KITH_VERSION_MINOR * 100 + KITH_VERSION_PATCH)
/* "MAJOR.MINOR.PATCH" of the linked library. A program runs with any library of the soname that it
 * was linked with, libkith.so.0.2. Before version 1.0 the soname changes with MINOR, afterwards
 * with MAJOR. */
KITH_API const char *kith_version(void);

/* ---- long work --------------------------------------------------------------------------- */

/* The progress of a long call, which consists of one or more consecutive stages. */
typedef struct kith_stage {
    size_t size;          /* of this struct in the library's version: fields may be appended */
    const char *name;     /* what is being done, such as "reading train" */
    uint64_t done, total; /* in units of the stage (bytes, facts, rules); total 0: unknown */
    double seconds;       /* since the stage began */
} kith_stage;

/* Called at the beginning of each stage and then about twenty times a second, by one thread at a
 * time, which need not be the caller's. Return 0 to continue. Any other value stops the work within
 * half a second: the call undoes what it has done so far and returns KITH_ERR_STOPPED. */
typedef int (*kith_watch_call)(void *context, const kith_stage *stage);

/* Options of calls that do long work and have no other options. */
typedef struct kith_work_options {
    size_t size;
    unsigned threads;      /* 0: one per core. The result does not depend on it. */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
} kith_work_options;
/* All zero. */
KITH_API void kith_work_options_init(kith_work_options *options, size_t size);
#define kith_work_options_init(options) kith_work_options_init(options, sizeof *(options))

/* ---- graphs ------------------------------------------------------------------------------ */

/* One fact. Ids are dense: entities 0..kith_graph_entity_count()-1, relations likewise. */
typedef struct kith_triple {
    uint32_t subject, relation, object;
} kith_triple;

/* The splits of a data set: train, validation set, test, support facts about unseen entities. All
 * facts of a single file are KITH_TRAIN. */
typedef enum kith_split { KITH_TRAIN, KITH_DEV, KITH_TEST, KITH_AUX, KITH_SPLITS } kith_split;

/* The facts of one split in file order, duplicates dropped. `truth` is NULL if every fact is true;
 * otherwise truth[i] is 1 for a true fact and 0 for a false one. */
typedef struct kith_facts {
    const kith_triple *at;
    const int8_t *truth;
    size_t count;
} kith_facts;

/* A neighbour: relation r < R means entity --r--> neighbour, r + R means neighbour --r--> entity,
 * where R is kith_graph_relation_count(). */
typedef struct kith_neighbor {
    uint32_t relation, entity;
} kith_neighbor;

/* The neighbours of entity e are at[offset[e]] .. at[offset[e + 1] - 1], in file order. */
typedef struct kith_neighborhoods {
    const uint64_t *offset;
    const kith_neighbor *at;
} kith_neighborhoods;

typedef struct kith_graph kith_graph;

/* A line of a file in columns: the three names, or `problem` if it is not a fact, else NULL. Names
 * and text do not end with a NUL, and are valid during the call. */
typedef struct kith_row {
    size_t line; /* from 1 */
    const char *text[3];
    size_t length[3];
    const char *whole; /* the line as it is */
    size_t whole_length;
    const char *problem;
} kith_row;
/* Returns 0 to continue, another value to stop with KITH_ERR_STOPPED. */
typedef int (*kith_row_call)(void *context, const kith_row *row);

typedef struct kith_open_options {
    size_t size;
    int skip_bad;     /* skip and count bad lines, instead of stopping at the first */
    unsigned threads; /* 0: one per core. The result does not depend on it. */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
    /* For a file in columns: the columns of subject, relation and object, by their names in the
     * header row or by number from 1, separated by commas. NULL: a header row is detected. */
    const char *columns;
    /* For a single file in columns: called for each line in order, also for those of repeated facts
     * and, with skip_bad, for bad ones. The file is then read by one thread. NULL: none */
    kith_row_call row;
    void *row_context;
} kith_open_options;

/* All zero. */
KITH_API void kith_open_options_init(kith_open_options *options, size_t size);
#define kith_open_options_init(options) kith_open_options_init(options, sizeof *(options))

/* What was dropped, skipped or set while reading. */
typedef struct kith_load_report {
    size_t duplicates;     /* repeated facts within a split, which were dropped */
    size_t bad_lines;      /* lines skipped because of skip_bad */
    const char *first_bad; /* what was wrong with the first of them, "" if none */
    size_t labels;         /* labels read from columns or from RDF statements */
} kith_load_report;

/* Open a knowledge graph. The format of `path` is detected (docs/FORMATS.md):
 *   - a folder with train, dev or valid, test, aux (plain, .txt or .tsv; also .gz or .zst), with
 *     names or ids, and optionally entity2id.txt, relation2id.txt and entity_name.txt;
 *   - a folder in OpenKE's layout;
 *   - WordNet's database folder;
 *   - one file of triples: columns separated by tabs, commas, semicolons or spaces, with or without
 *     a header row; N-Triples; or Turtle; plain, .gz or .zst.
 * The entities of train get the first ids, and so do its relations.
 * Fails with KITH_ERR_IO, _INPUT, _MEMORY or _STOPPED. */
KITH_API kith_status kith_graph_open(kith_graph **graph, const char *path,
                                     const kith_open_options *options, kith_error *error);
KITH_API void kith_graph_free(kith_graph *graph);

/* A description of the detected format, such as "OpenKE folder". */
KITH_API const char *kith_graph_layout(const kith_graph *graph);
KITH_API const kith_load_report *kith_graph_report(const kith_graph *graph);

/* Counts over the whole source; "seen" entities and relations occur in train and have the ids
 * 0..seen-1. */
KITH_API uint32_t kith_graph_entity_count(const kith_graph *graph);
KITH_API uint32_t kith_graph_relation_count(const kith_graph *graph);
KITH_API uint32_t kith_graph_seen_entity_count(const kith_graph *graph);
KITH_API uint32_t kith_graph_seen_relation_count(const kith_graph *graph);

/* The unique name; NULL for an id that does not exist. */
KITH_API const char *kith_graph_entity_name(const kith_graph *graph, uint32_t entity);
KITH_API const char *kith_graph_relation_name(const kith_graph *graph, uint32_t relation);
/* The label from entity_name.txt, a column of labels, rdfs:label or skos:prefLabel, or the name if
 * there is none. */
KITH_API const char *kith_graph_entity_label(const kith_graph *graph, uint32_t entity);
/* The same for a relation, from relation_name.txt, a column of labels or RDF. */
KITH_API const char *kith_graph_relation_label(const kith_graph *graph, uint32_t relation);

/* All names at once, without a copy: name i begins at bytes + start[i] and ends with a NUL. */
typedef struct kith_name_list {
    const char *bytes;
    const uint64_t *start;
    uint32_t count;
} kith_name_list;
KITH_API kith_name_list kith_graph_entity_names(const kith_graph *graph);
KITH_API kith_name_list kith_graph_relation_names(const kith_graph *graph);
/* All labels: label i begins at bytes + start[i] - 1; an entity with start[i] = 0 has none. `count`
 * is 0 if no entity has a label. */
KITH_API kith_name_list kith_graph_entity_labels(const kith_graph *graph);

/* The id of a name; KITH_ERR_NOT_FOUND if the graph does not have the name. */
KITH_API kith_status kith_graph_find_entity(uint32_t *entity, const kith_graph *graph,
                                            const char *name);
KITH_API kith_status kith_graph_find_relation(uint32_t *relation, const kith_graph *graph,
                                              const char *name);

/* The short form of a name that is an IRI, such as "wd:Q42", with the prefixes that the source
 * declares and some well-known ones. Writes it with a NUL and returns its length. Returns 0 if the
 * name is not an IRI with such a prefix, if the short form is itself a name in the graph, or if
 * `size` is too small. */
KITH_API size_t kith_graph_short_name(char *text, size_t size, const kith_graph *graph,
                                      const char *name);

/* The entity or relation that a user means by `text`: a name, <IRI>, prefix:name, or a label that
 * only one entity or relation has. Fails with KITH_ERR_NOT_FOUND, or with KITH_ERR_ARGUMENT for an
 * ambiguous label; the message lists those that have it. */
KITH_API kith_status kith_graph_resolve_entity(uint32_t *entity, const kith_graph *graph,
                                               const char *text, kith_error *error);
KITH_API kith_status kith_graph_resolve_relation(uint32_t *relation, const kith_graph *graph,
                                                 const char *text, kith_error *error);

/* Names similar to `text`, which may be mistyped: with the same label, differing in a letter or
 * two, or beginning with it; most likely first. Writes at most `most` ids and never more than 16,
 * only of relations in train and of entities with facts in train or aux, and returns their
 * number. */
KITH_API size_t kith_graph_suggest_entities(uint32_t *entities, size_t most,
                                            const kith_graph *graph, const char *text);
KITH_API size_t kith_graph_suggest_relations(uint32_t *relations, size_t most,
                                             const kith_graph *graph, const char *text);

/* A hash of names and facts: equal graphs have equal hashes. */
KITH_API uint64_t kith_graph_hash(const kith_graph *graph);

KITH_API kith_facts kith_graph_facts(const kith_graph *graph, kith_split split);

/* The neighbours of seen entities come from train, in both directions. Those of other entities come
 * from aux: only seen entities, and only with relations of train. */
KITH_API kith_neighborhoods kith_graph_neighborhoods(const kith_graph *graph);

/* Write a graph as a folder: train, dev, test, aux (splits without facts are omitted, except
 * train), and entity_name.txt if there are labels. With `ids`, facts are ids, named by
 * entity2id.txt and relation2id.txt. `note`, if not NULL, is written as split.json. The folder is
 * written under a temporary name and renamed, so it appears whole or not at all. It must not exist,
 * or be empty, or with `replace` have been written by this call before, but it must be neither a
 * symbolic link nor the source of the graph. */
typedef struct kith_save_options {
    size_t size;
    int ids;
    int replace;
    const char *note;
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
} kith_save_options;

/* All zero. */
KITH_API void kith_save_options_init(kith_save_options *options, size_t size);
#define kith_save_options_init(options) kith_save_options_init(options, sizeof *(options))
KITH_API kith_status kith_graph_save(const kith_graph *graph, const char *folder,
                                     const kith_save_options *options, kith_error *error);

/* ---- graphs from memory ------------------------------------------------------------------ */

/* Collects facts, by names or ids, and makes a graph of them, as kith_graph_open does from a
 * source. Names must be UTF-8 and not empty, without tabs and line ends. One thread at a time. */
typedef struct kith_builder kith_builder;

KITH_API kith_status kith_builder_new(kith_builder **builder, kith_error *error);
KITH_API void kith_builder_free(kith_builder *builder);

/* Add one fact by names; new names are added too. `truth` is 1 for a true fact and 0 for a false
 * one, which only KITH_DEV and KITH_TEST may have. */
KITH_API kith_status kith_builder_add(kith_builder *builder, kith_split split, const char *subject,
                                      const char *relation, const char *object, int truth,
                                      kith_error *error);

/* Add many names at once. The id of each is stored in `ids`, which may be NULL. New names get the
 * next ids, counted from 0, so the first call on an empty builder gives 0, 1, 2 ... to different
 * names. Entities without facts are kept. */
KITH_API kith_status kith_builder_add_entities(uint32_t *ids, kith_builder *builder,
                                               const char *const *names, size_t count,
                                               kith_error *error);
KITH_API kith_status kith_builder_add_relations(uint32_t *ids, kith_builder *builder,
                                                const char *const *names, size_t count,
                                                kith_error *error);
/* Add many facts at once, by the builder's ids; `facts.truth` is NULL if all are true. On failure
 * none is added. */
KITH_API kith_status kith_builder_add_facts(kith_builder *builder, kith_split split,
                                            kith_facts facts, kith_error *error);

/* Set the label of an entity, given by its id in the builder; NULL removes it. */
KITH_API kith_status kith_builder_set_label(kith_builder *builder, uint32_t entity,
                                            const char *label, kith_error *error);
/* The same for a relation. */
KITH_API kith_status kith_builder_set_relation_label(kith_builder *builder, uint32_t relation,
                                                     const char *label, kith_error *error);

/* Make the graph and empty the builder. Duplicates are dropped, and ids are assigned again, so that
 * the entities and relations of train come first. Fails with KITH_ERR_ARGUMENT if train has no
 * fact; after a failure the builder can only be freed. Only `threads` and `watch` of the options
 * are used. */
KITH_API kith_status kith_builder_finish(kith_graph **graph, kith_builder *builder,
                                         const kith_open_options *options, kith_error *error);

/* ---- statistics -------------------------------------------------------------------------- */

typedef struct kith_degree_bucket {
    uint64_t low, high; /* inclusive */
    size_t entities;
} kith_degree_bucket;

typedef struct kith_relation_count {
    uint32_t relation;
    size_t facts;
} kith_relation_count;

/* The facts of one split. */
typedef struct kith_split_stats {
    size_t facts;    /* false ones included */
    size_t untrue;   /* of these: labelled false */
    size_t unusable; /* with a relation that is not in train */
    size_t leaked;   /* true ones that are also in train */
} kith_split_stats;

typedef struct kith_stats {
    size_t relations;              /* in train */
    size_t seen;                   /* entities in train */
    size_t unseen; /* entities of test that are not in train, in facts whose relation is in train */
    const kith_split_stats *const *splits; /* by kith_split */
    size_t split_count;
    size_t isolated;               /* named entities without any fact */
    size_t connected;              /* entities that have a neighbour */
    uint64_t neighbors_min, neighbors_max;
    double neighbors_mean;         /* over connected entities */
    /* train facts whose subject and object another relation links in the same direction */
    size_t duplicate_facts;
    size_t inverse_facts; /* train facts for which some fact links the object back to the subject */
    size_t duplicate_relations;    /* relations with 80 % or more duplicate facts */
    size_t inverse_relations;      /* relations with 80 % or more inverse facts */
    size_t bucket_count;
    const kith_degree_bucket *const *buckets; /* neighbours per connected entity: 1, 2, 3-5, 6-10,
                                                 11-20 ... */
    size_t common_count;
    /* the ten most common relations of train, most facts first */
    const kith_relation_count *const *common;
} kith_stats;

KITH_API kith_status kith_graph_stats(kith_stats **stats, const kith_graph *graph,
                                      const kith_work_options *options, kith_error *error);
KITH_API void kith_stats_free(kith_stats *stats);

/* ---- data sets with unseen entities ------------------------------------------------------ */

typedef enum kith_strategy { KITH_SUBJECT, KITH_OBJECT, KITH_BOTH } kith_strategy;

typedef struct kith_dataset_options {
    size_t size;
    kith_strategy strategy; /* which ends of the sampled test facts become unseen */
    double rate;            /* percent of the test facts to sample; used where count is 0 */
    size_t count;           /* number of test facts to sample */
    /* shares of train to hold out first, if the source has no dev (valid) or no test (test); 0:
     * none */
    double valid, test;
    uint64_t seed;
    int labels; /* add one false fact per true one to dev and test */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
    unsigned threads;      /* 0: one per core. The result does not depend on it. */
} kith_dataset_options;

/* Subject strategy, 10 %, valid .05, test .10, seed 1, no labels. */
KITH_API void kith_dataset_options_init(kith_dataset_options *options, size_t size);
#define kith_dataset_options_init(options) kith_dataset_options_init(options, sizeof *(options))

typedef struct kith_dataset_report {
    size_t sampled;         /* test facts sampled */
    size_t candidates;      /* ends of these facts, which may become unseen */
    size_t unseen;          /* of these, entities with a seen neighbour, which are now unseen */
    size_t dropped;         /* source entities that are not in the data set */
    size_t known; /* dev and test facts dropped because they are in the new train or aux */
    size_t without_false;   /* true facts for which no false one could be made */
    size_t ignored;         /* source facts that are not used: its aux, and those labelled false */
} kith_dataset_report;

/* Make a data set with unseen entities by the protocol of Wang et al. 2019 (KITH_BOTH: Hamaguchi et
 * al. 2017). `report` may be NULL; otherwise free it. The same source, options and seed give the
 * same graph. Fails with KITH_ERR_ARGUMENT if the source has nothing to sample. */
KITH_API kith_status kith_dataset_make(kith_graph **graph, kith_dataset_report **report,
                                       const kith_graph *source,
                                       const kith_dataset_options *options, kith_error *error);
KITH_API void kith_dataset_report_free(kith_dataset_report *report);

/* ---- rules ------------------------------------------------------------------------------- */

/* An entity that has the premise also has the conclusion, with this confidence (Wang et al. 2019,
 * eq. 4). Relations are ids; `inverse` means that the entity is the object. */
typedef struct kith_implication {
    uint32_t premise, conclusion;
    int premise_inverse, conclusion_inverse;
    uint32_t support; /* entities with both */
    double confidence;
} kith_implication;

typedef struct kith_implications {
    const kith_implication *const *at; /* by confidence, then support */
    size_t count;
} kith_implications;

typedef struct kith_rules_options {
    size_t size;
    unsigned kinds;        /* for kith_graph_rules: flags of kith_evidence_part; 0: all */
    uint32_t conclusion;   /* only this relation or its inverse; UINT32_MAX: any */
    uint32_t min_support;
    size_t top;            /* how many */
    unsigned threads;      /* 0: one per core. The result does not depend on it. */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
} kith_rules_options;
/* All kinds, any conclusion, support 1, the 20 strongest. */
KITH_API void kith_rules_options_init(kith_rules_options *options, size_t size);
#define kith_rules_options_init(options) kith_rules_options_init(options, sizeof *(options))

/* The strongest implications of train. */
KITH_API kith_status kith_graph_implications(kith_implications **implications,
                                             const kith_graph *graph,
                                             const kith_rules_options *options, kith_error *error);
KITH_API void kith_implications_free(kith_implications *implications);

/* Parts of the evidence for an answer, as flags. Rules that name an answer o to q(s, ?) are of
 * these kinds; later versions may have others:
 *   direct          r(s, o)             => q(s, o)
 *   path            r1(s, x), r2(x, o)  => q(s, o)
 *   path3           r1(s, x), r2(x, y), r3(y, o) => q(s, o)
 *   constant        r(s, c)             => q(s, o), where c and o are constants
 *   shared-answer   r(o, c)             => q(s, o), where c and s are constants */
typedef enum kith_evidence_part {
    KITH_PART_NONE = 0, /* the prior, such as how common o is as an answer */
    KITH_PART_DIRECT = 1 << 0,
    KITH_PART_PATH = 1 << 1,
    KITH_PART_CONSTANT = 1 << 2,
    KITH_PART_SHARED = 1 << 3,
    KITH_PART_PROXIMITY = 1 << 4, /* random walks */
    KITH_PART_EMBEDDING = 1 << 5,
    KITH_PART_PATH3 = 1 << 6,
    KITH_PART_ALL = 0xffff, /* flags that no part has are ignored */
    KITH_PART_RULES = KITH_PART_ALL & ~(KITH_PART_PROXIMITY | KITH_PART_EMBEDDING)
} kith_evidence_part;

/* The name of one part, of KITH_PART_RULES or of KITH_PART_NONE ("prior"), and a letter as a short
 * label; NULL and '\0' for other combinations of flags. kith_part_form: the form of a kind of
 * rules, as body, "=>" and conclusion, with variables of one letter: "r1(s, x), r2(x, o) =>
 * q(s, o)". It is NULL for parts that are not rules. */
KITH_API const char *kith_part_name(kith_evidence_part part);
KITH_API char kith_part_letter(kith_evidence_part part);
KITH_API const char *kith_part_form(kith_evidence_part part);
/* Whether a kind of rules is mined from train, and whether kith_graph_rules lists it. */
KITH_API int kith_part_mined(kith_evidence_part part);
KITH_API int kith_part_listed(kith_evidence_part part);
/* The part with a name ("path", "rules", "proximity", or its former name "near") or letter;
 * KITH_PART_NONE if there is none. */
KITH_API kith_evidence_part kith_part_find(const char *name, size_t length);

/* The entities of a fact that a rule predicts, and of its body: `between` is x of a path rule or c
 * of a constant rule, `between_second` is y of a path3 rule; otherwise they are UINT32_MAX. */
typedef struct kith_rule_example {
    uint32_t subject, between, object, between_second;
} kith_rule_example;

/* A rule that train supports. Its confidence is support / (body count + 5); the 5 lowers the
 * confidence of rules with few examples. */
typedef struct kith_rule {
    kith_evidence_part kind;
    uint32_t first, second, conclusion; /* relations; UINT32_MAX if the body has no second */
    int first_inverse, second_inverse, conclusion_inverse;
    uint32_t constant, answer; /* c and o of a constant rule, else UINT32_MAX */
    uint32_t support;          /* how often it was correct */
    uint32_t body_count;       /* how often its body held for an s that has some q */
    double confidence;
    const kith_rule_example *const *holds, *const *fails; /* at most two of each */
    size_t holds_count, fails_count;
    uint32_t third; /* of a body with three relations, else UINT32_MAX */
    int third_inverse;
} kith_rule;

typedef struct kith_rules {
    const kith_rule *const *at; /* by confidence, then support */
    size_t count;
} kith_rules;

/* The strongest rules of train. */
KITH_API kith_status kith_graph_rules(kith_rules **rules, const kith_graph *graph,
                                      const kith_rules_options *options, kith_error *error);
KITH_API void kith_rules_free(kith_rules *rules);

/* ---- settings of a model ----------------------------------------------------------------- */

/* Everything that defines a model and its training, by name. */
typedef struct kith_settings kith_settings;

/* The names of presets by index, the default first; NULL past the last. `help` may be NULL. */
KITH_API const char *kith_settings_preset(size_t index, const char **help);
/* The settings of a preset, to be freed with kith_settings_free. Fails with KITH_ERR_ARGUMENT for
 * an unknown preset. */
KITH_API kith_status kith_settings_new(kith_settings **settings, const char *preset,
                                       kith_error *error);
KITH_API void kith_settings_free(kith_settings *settings);
/* Set a setting by name, as the command line and config.json do: "dim" to "50". Fails with
 * KITH_ERR_NOT_FOUND for an unknown name, KITH_ERR_ARGUMENT for an invalid value. */
KITH_API kith_status kith_settings_set(kith_settings *settings, const char *name, const char *value,
                                       kith_error *error);
/* The value as text, at most `size` bytes with the NUL; NULL for an unknown name. */
KITH_API const char *kith_settings_get(char *text, size_t size, const kith_settings *settings,
                                       const char *name);
/* The names of settings by index; NULL past the last. `help` and `choices` ("a|b" or "N") may be
 * NULL. */
KITH_API const char *kith_settings_name(size_t index, const char **help, const char **choices);
/* Whether a setting has an effect, given the others: the margin has none with the softmax loss, and
 * few settings have one in a run with rules only. 0 for an unknown name. */
KITH_API int kith_settings_applies(const kith_settings *settings, const char *name);

/* Adapt settings to training that starts from an earlier run (kith_train_options.from), which needs
 * fewer epochs and smaller batches: with a loss over shared negatives (softmax) and batches of more
 * than 512 facts, batches become 512 and epochs a third. Everything else stays, so a second call
 * changes nothing. */
KITH_API kith_status kith_settings_start_from(kith_settings *settings, kith_error *error);

/* ---- models ------------------------------------------------------------------------------ */

/* A trained model, opened on a graph: an embedding (optional), rules with the weights of the fusion
 * (optional), and the calibration of probabilities. Any number of threads may use one model at
 * once, by the calls that take it as const and by sessions; evaluations of one model take turns. */
typedef struct kith_model kith_model;

/* The progress of training. */
typedef struct kith_progress {
    uint32_t epoch, epochs;
    uint64_t facts, facts_total; /* trained on in this epoch so far, and in total */
    double loss;                 /* mean over the epoch so far */
    double seconds;              /* spent on training in this epoch */
    int epoch_done;
    /* at the end of an epoch: the model was evaluated on dev, with the result `dev` */
    int evaluated;
    int best;      /* this was the best result so far */
    double dev;    /* MRR, or accuracy if dev has labels */
} kith_progress;
/* Called after every batch and at the end of every epoch. Return 0 to continue, anything else to
 * stop with a checkpoint. */
typedef int (*kith_progress_call)(void *context, const kith_progress *progress);

typedef struct kith_train_options {
    size_t size;
    unsigned threads; /* 0: one per core. The result does not depend on it. */
    kith_progress_call progress; /* NULL: none */
    void *context;               /* for progress */
    /* minimum time between checkpoints, which are written at the end of epochs */
    double checkpoint_seconds;
    /* NULL: none. Called in all stages: training, evaluation on dev, mining, fitting. If it stops
     * the work, training ends with a checkpoint and KITH_TRAIN_STOPPED, and can be resumed; a new
     * run that does not exist yet fails with KITH_ERR_STOPPED instead, and leaves nothing. */
    kith_watch_call watch;
    void *watch_context;
    /* replace an existing run made by kith, in one step, before training begins; a folder that
     * contains anything else is not replaced */
    int replace;
    /* NULL: random initial values. Otherwise the folder of a finished run on the same graph or a
     * smaller version of it, whose embedding training starts from: rows are matched by name, new
     * entities start from their encodings, and the fusion is reused instead of fitted. Aggregator,
     * decoder, dim, reciprocal and the shapes of tables must be the same. Settings are used as they
     * are; see kith_settings_start_from. Not for kith_train_resume. */
    const char *from;
} kith_train_options;
/* All zero. */
KITH_API void kith_train_options_init(kith_train_options *options, size_t size);
#define kith_train_options_init(options) kith_train_options_init(options, sizeof *(options))

typedef enum kith_train_end {
    KITH_TRAIN_FINISHED,
    KITH_TRAIN_STOPPED,
    KITH_TRAIN_WAS_FINISHED
} kith_train_end;

/* Train a model and write it to a new folder, the run: config.json, model.safetensors (the
 * parameters that were best on dev, or the last ones if there is no evaluation on dev),
 * checkpoint.safetensors, history.jsonl, the graph and the files of rules and fusion
 * (docs/TRAINING.md). Training can be resumed as soon as the folder exists. */
KITH_API kith_status kith_train(kith_train_end *end, const char *folder, const kith_graph *graph,
                                const kith_settings *settings, const kith_train_options *options,
                                kith_error *error);
/* The same, but takes ownership of the graph: parts that training does not need are freed at the
 * beginning, the rest at the end, even on failure. Use it for graphs that fill the memory. */
KITH_API kith_status kith_train_consuming(kith_train_end *end, const char *folder,
                                          kith_graph *graph, const kith_settings *settings,
                                          const kith_train_options *options, kith_error *error);
/* Continue from the last checkpoint. */
KITH_API kith_status kith_train_resume(kith_train_end *end, const char *folder,
                                       const kith_train_options *options, kith_error *error);

/* Open the run that training has written to `folder`, with its graph (kith_model_graph). */
KITH_API kith_status kith_model_open(kith_model **model, const char *folder,
                                     const kith_work_options *options, kith_error *error);
/* Warnings from opening the model by index, such as that the run is of an older format without
 * checksums; NULL past the last. */
KITH_API const char *kith_model_warning(const kith_model *model, size_t index);
/* Open a run on another graph that shares relations with the one it was trained on. Train and aux
 * of that graph are the known facts, and all its entities are candidates. Relations are matched by
 * name; facts with other relations are ignored, and kith_model_warning says how many. Entities are
 * not matched, even if they have the same names, so answers of a run with rules come from these,
 * without the embedding. In an embedding alone, which answers without probabilities, entities get
 * input embeddings from their neighbourhoods. Nothing is trained. The graph may be freed
 * afterwards; the model's own graph (kith_model_graph) has other ids. Fails with KITH_ERR_INPUT if
 * no relation is shared. */
KITH_API kith_status kith_model_open_on(kith_model **model, const char *folder,
                                        const kith_graph *graph, const kith_work_options *options,
                                        kith_error *error);
/* The strongest rules that a model learned: mined rules (direct, path, path3) have their counts
 * from training; constant rules and examples come from the facts known now. Free with
 * kith_rules_free. */
KITH_API kith_status kith_model_rules(kith_rules **rules, const kith_model *model,
                                      const kith_rules_options *options, kith_error *error);
/* A model with random initial values instead of trained ones; it borrows the graph. */
KITH_API kith_status kith_model_new(kith_model **model, const kith_graph *graph,
                                    const kith_settings *settings,
                                    const kith_work_options *options, kith_error *error);
KITH_API void kith_model_free(kith_model *model);
KITH_API const kith_graph *kith_model_graph(const kith_model *model);
KITH_API const kith_settings *kith_model_settings(const kith_model *model);

/* The vector of an entity for a query relation: as many floats as the setting "dim" says. `inverse`
 * encodes it as an object of the relation, not as a subject. The vector of an entity without usable
 * neighbours is zero. Fails with KITH_ERR_NOT_FOUND for an id that does not exist, with
 * KITH_ERR_ARGUMENT if the run has rules only. */
KITH_API kith_status kith_model_encode(float *vector, const kith_model *model, uint32_t entity,
                                       uint32_t relation, int inverse, kith_error *error);
/* How plausible a fact is, scored as in ranking; larger is more plausible. If both sides are
 * predicted, the mean of both scores. */
KITH_API kith_status kith_model_score(float *score, const kith_model *model, kith_triple fact,
                                      kith_error *error);

/* What the fusion was fitted on. A model without rules has none: `fused` is 0. */
typedef struct kith_fusion_info {
    int fused, embedding; /* whether there is a fusion, and whether it has an embedding */
    size_t queries;             /* facts of held-out entities that it was fitted on */
    size_t calibration_queries; /* of these, the calibration split */
    double loss;                /* cross-entropy of the correct answer, on the calibration split */
    double calibration[3];
    size_t own_weights;         /* directed relations with their own weights */
    /* regularisation strength of these towards the common weights; 0 if there are none */
    double regularization;
} kith_fusion_info;
KITH_API kith_status kith_model_fusion(kith_fusion_info **info, const kith_model *model,
                                       kith_error *error);
KITH_API void kith_fusion_info_free(kith_fusion_info *info);
/* The number of mined rules of a kind; 0 for kinds that are counted at query time. */
KITH_API size_t kith_model_rule_count(const kith_model *model, kith_evidence_part kind);
/* The common weights by index: the name of the feature, and its part, KITH_PART_RULES if it
 * combines several kinds. NULL past the last. */
KITH_API const char *kith_model_fusion_weight(double *weight, kith_evidence_part *part,
                                              const kith_model *model, size_t index);
/* The weight used for queries of a relation of train, for objects or subjects. Returns 1 if it is
 * the relation's own, 0 if it is the common one or past the last. */
KITH_API int kith_model_relation_weight(double *weight, const kith_model *model, uint32_t relation,
                                        int subject_hidden, size_t index);

/* What the rows of a table stand for. */
typedef enum kith_rows {
    KITH_ROWS_ENTITIES,  /* of train, by id */
    KITH_ROWS_RELATIONS, /* likewise */
    KITH_ROWS_DIRECTED,  /* these relations, then their inverses */
    KITH_ROWS_OTHER
} kith_rows;

/* One table of a model's parameters: row r begins at at[r * stride]. "ent" has the input
 * embeddings, "rel" the decoder's relations, "trans" the hyperplanes by which the encoder
 * transforms neighbours. */
typedef struct kith_table {
    const char *name;
    kith_rows of;
    const float *at;
    size_t rows, columns, stride;
} kith_table;
typedef struct kith_tables {
    const kith_table *const *at;
    size_t count; /* 0 for a run with rules only */
} kith_tables;
/* The tables; their numbers are the model's own, not copies. */
KITH_API kith_status kith_model_tables(kith_tables **tables, const kith_model *model,
                                       kith_error *error);
KITH_API void kith_tables_free(kith_tables *tables);

/* Vectors with names, for other programs: row r begins at at[r * stride]. */
typedef struct kith_vectors {
    size_t size;
    const float *at;
    size_t rows, columns, stride;
    const char *const *names;  /* of the rows; NULL for none */
    const char *const *labels; /* readable names of the rows; NULL for none */
} kith_vectors;
/* All zero. */
KITH_API void kith_vectors_init(kith_vectors *vectors, size_t size);
#define kith_vectors_init(vectors) kith_vectors_init(vectors, sizeof *(vectors))

typedef enum kith_vector_format {
    KITH_VECTORS_NPY, /* STEM.npy for numpy, and STEM.names.tsv: name and label, one row each */
    KITH_VECTORS_WORD2VEC, /* STEM.txt: word2vec's text, spaces in names as underscores */
    KITH_VECTORS_TSV /* STEM.vectors.tsv and STEM.metadata.tsv, as embedding viewers read them */
} kith_vector_format;

/* Write vectors to files, each whole or not at all. */
KITH_API kith_status kith_vectors_save(const kith_vectors *vectors, const char *stem,
                                       kith_vector_format format,
                                       const kith_work_options *options, kith_error *error);

/* ---- evaluation -------------------------------------------------------------------------- */

typedef struct kith_metrics {
    size_t queries;
    double mr, mrr, hits1, hits3, hits10; /* hits as fractions */
} kith_metrics;

/* One of the best answers to a query of kith_evaluate. */
typedef struct kith_ranked_answer {
    float probability_if_one; /* as in kith_answer */
    int correct;
} kith_ranked_answer;

/* One query: the fact whose side was hidden, and its rank among the candidates. */
typedef struct kith_rank {
    kith_triple fact;
    int subject_hidden;
    uint32_t optimistic, pessimistic;
    double realistic; /* their mean */
    uint32_t candidates; /* after filtering, including the correct one */
    int kind;            /* of the relation, an index for kith_eval_kind_name */
    /* index of the number of facts of the known entity, for kith_eval_bucket_name; for a labelled
     * fact, of the entity with fewer */
    int facts;
    int correct;         /* for a labelled fact: it was classified correctly */
    /* For models with calibrated probabilities: the ten best answers that are not known. */
    const kith_ranked_answer *const *answers;
    size_t answer_count;
} kith_rank;

/* How often answers in a bin of probabilities were correct. */
typedef struct kith_reliability {
    size_t answers;
    double predicted, correct; /* means: the probability, and the share of correct answers */
} kith_reliability;

typedef struct kith_eval {
    int classification;            /* the facts have labels: accuracy; else ranking */
    const kith_metrics *realistic; /* ties share the mean rank */
    const kith_metrics *optimistic, *pessimistic;
    const kith_metrics *const *by_kind; /* 1-1, 1-N, N-1, N-N, from train */
    size_t kind_count;
    /* by facts of the known entity: 0, 1, 2, 3-5, 6-10, 11-50, more */
    const kith_metrics *const *by_facts;
    const kith_metrics *const *by_known; /* by known answers of the query, in the same buckets */
    size_t bucket_count;
    /* queries whose two entities are linked by some known fact, and the others */
    const kith_metrics *linked, *not_linked;
    const kith_reliability *const *reliability; /* by `probability_if_one`: below .1, .2 ... */
    size_t reliability_count;
    double calibration_error; /* mean of |predicted - correct| over the bins; below 0: none */
    double accuracy;
    size_t facts;        /* of the split */
    size_t unusable;     /* ignored, because their relation is not in train */
    /* queries whose correct answer is not a candidate, so that they cannot be ranked */
    size_t no_candidate;
    /* facts with an entity without usable neighbours, which has a zero vector */
    size_t no_neighbors;
    double seconds;      /* that ranking or classifying took */
    const kith_rank *const *ranks; /* for labelled facts only fact, kind, facts and correct */
    size_t rank_count;
} kith_eval;

/* What training measured on held-out entities: some of their facts are hidden, and a model that has
 * not seen the entities is queried for them, with weights that were not fitted on them. Metrics are
 * filtered; candidates are the entities of train that were not held out; ties share the mean rank.
 * `reliability` is about probabilities that were calibrated on other held-out entities. */
typedef struct kith_held_out {
    size_t entities; /* queried */
    const kith_metrics *metrics;
    /* as in kith_eval; none if there are few entities */
    const kith_reliability *const *reliability;
    size_t reliability_count;
    double calibration_error; /* below 0: none */
    /* as by kith_evaluate_probabilities, on a part of these entities; NULL if there are few */
    const struct kith_probability_eval *probabilities;
} kith_held_out;
/* Fails with KITH_ERR_NOT_FOUND if nothing was measured: for a run without rules, an older one, one
 * started from another run or opened on another graph, or with no entities to hold out. */
KITH_API kith_status kith_model_held_out(kith_held_out **held_out, const kith_model *model,
                                         kith_error *error);
KITH_API void kith_held_out_free(kith_held_out *held_out);

/* Which entities may be answers. Unseen entities are those of the graph that are not in train and
 * have support facts, and the new ones of a session. The order of seen candidates does not depend
 * on whether unseen ones are candidates too. A model without rules, or with unseen-neighbors off,
 * has no scores for unseen entities in a session; evaluation scores them by their encodings. */
typedef enum kith_candidate_set {
    KITH_ANSWERS_USUAL, /* all in a session, seen ones in evaluation */
    KITH_ANSWERS_ALL,   /* seen and unseen entities that have scores */
    KITH_ANSWERS_SEEN,  /* those of train */
    KITH_ANSWERS_NEW    /* unseen entities */
} kith_candidate_set;

typedef struct kith_eval_options {
    size_t size;
    kith_split split;     /* KITH_DEV or KITH_TEST */
    kith_candidate_set candidates;
    unsigned without;   /* parts of the evidence to ablate: flags of kith_evidence_part */
    const kith_graph *filter; /* additional true facts to filter by, or NULL */
    size_t sample;      /* number of facts, drawn at random; 0: all */
    uint64_t seed;      /* of the sample */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
} kith_eval_options;
/* The split is KITH_TEST; else all zero. */
KITH_API void kith_eval_options_init(kith_eval_options *options, size_t size);
#define kith_eval_options_init(options) kith_eval_options_init(options, sizeof *(options))

/* Rank the hidden sides of a split's facts, or classify the facts if they have labels. */
KITH_API kith_status kith_evaluate(kith_eval **result, const kith_model *model,
                                   const kith_eval_options *options, kith_error *error);
KITH_API void kith_eval_free(kith_eval *result);
/* Write every query and its rank as TSV with a header, with the names of the model's graph; for
 * labelled facts, each of them and whether it was classified correctly. */
KITH_API kith_status kith_eval_write_ranks(const kith_eval *result, const kith_graph *graph,
                                           const char *path, const kith_work_options *options,
                                           kith_error *error);
/* "1-1" ... and "3-5" ..., for the indices of by_kind, by_facts and by_known; NULL past the
 * last. */
KITH_API const char *kith_eval_kind_name(int kind);
KITH_API const char *kith_eval_bucket_name(int bucket);

/* How well the `probability` of answers is calibrated. Unseen entities (those of aux and test) are
 * described by 10 to 90 % of their facts, chosen at random, and queried. Answers are correct if
 * they are among the other facts. */
typedef struct kith_probability_table {
    size_t answers, correct;
    const kith_reliability *const *bins; /* by `probability`: below .1, below .2 ... */
    size_t bin_count;
    double calibration_error;  /* mean of |predicted - correct| over the bins */
    double log_loss;           /* mean of -log P(outcome) */
    /* the log-loss if every answer gets the share of correct answers as its probability */
    double base_rate_log_loss;
    size_t at_least_half;      /* answers with .5 or more, and how many of these are correct */
    size_t at_least_half_correct;
} kith_probability_table;

typedef struct kith_probability_eval {
    size_t entities; /* queried */
    size_t queries;  /* of the first table */
    /* S r ? and ? r S for each relation that pairs consider, whether or not S has a hidden fact of
     * it: the ten best answers that are not known */
    const kith_probability_table *relations;
    const kith_probability_table *pairs; /* S ? ? and ? ? S together: the ten best pairs */
    /* the answers of `relations` to queries that a hidden fact answers, by `probability_if_any` */
    const kith_probability_table *if_any;
} kith_probability_eval;

typedef struct kith_probability_options {
    size_t size;
    size_t entities;       /* at most this many, drawn at random */
    uint64_t seed;         /* of the draw, and of which facts are hidden */
    kith_watch_call watch; /* NULL: none */
    void *context;         /* for watch */
} kith_probability_options;
/* 500 entities, seed 1. */
KITH_API void kith_probability_options_init(kith_probability_options *options, size_t size);
#define kith_probability_options_init(options)                                                     \
    kith_probability_options_init(options, sizeof *(options))

/* Fails with KITH_ERR_ARGUMENT if the model has no probabilities or the graph has no unseen
 * entities. */
KITH_API kith_status kith_evaluate_probabilities(kith_probability_eval **result,
                                                 const kith_model *model,
                                                 const kith_probability_options *options,
                                                 kith_error *error);
KITH_API void kith_probability_eval_free(kith_probability_eval *result);

/* ---- answers about new entities ---------------------------------------------------------- */

/* A session holds the facts that one user adds, and answers queries about entities. Any number of
 * sessions may share a model, each used by one thread at a time. Candidates are encoded once for
 * all of them. The model must outlive its sessions. */
typedef struct kith_session kith_session;

KITH_API kith_status kith_session_new(kith_session **session, kith_model *model,
                                      kith_error *error);
KITH_API void kith_session_free(kith_session *session);
/* Whether messages about unknown names suggest similar ones, which requires a scan of all names: 1
 * by default. */
KITH_API void kith_session_set_suggestions(kith_session *session, int suggest);

/* The maximum bytes of candidates' encodings that a model keeps for later questions, by default 256
 * MB; the least recently used are dropped first. */
KITH_API kith_status kith_model_set_cache(kith_model *model, size_t bytes, kith_error *error);

/* Whether a fact can be used. Its relation must be in train. For a model with unseen-neighbors off,
 * one of its entities must be in train too; the fact then describes the other entity, or both if
 * both are in train. */
typedef enum kith_fact_use {
    KITH_FACT_USED,
    KITH_FACT_REPEATED,    /* added before, or already in the graph */
    KITH_FACT_NO_RELATION, /* training has no fact with this relation */
    KITH_FACT_NO_NEIGHBOR, /* neither entity is in train, and the model uses seen neighbours only */
    KITH_FACT_USES
} kith_fact_use;
KITH_API const char *kith_fact_use_text(kith_fact_use use); /* a description */

/* Add a fact by names. Names that the graph does not have become new entities. `use`, which may be
 * NULL, tells whether the fact can be used; facts that cannot are kept and listed, but have no
 * effect. Fails with KITH_ERR_ARGUMENT for an empty name or one that is not UTF-8. */
KITH_API kith_status kith_session_add(kith_fact_use *use, kith_session *session,
                                      const char *subject, const char *relation,
                                      const char *object, kith_error *error);
/* Add all facts of train and aux of a graph, which may come from any source; false facts are
 * ignored. On failure none is added. Only `watch` of the options is used. */
KITH_API kith_status kith_session_add_graph(kith_session *session, const kith_graph *facts,
                                            const kith_work_options *options, kith_error *error);
/* Remove the last fact; KITH_ERR_NOT_FOUND if there is none. Afterwards the session is as if it had
 * never been added: ids of other new names may have changed. */
KITH_API kith_status kith_session_undo(kith_session *session);
/* Remove a fact, or its last copy if it was added several times; KITH_ERR_NOT_FOUND if there is
 * none. */
KITH_API kith_status kith_session_remove(kith_session *session, const char *subject,
                                         const char *relation, const char *object,
                                         kith_error *error);
/* Write all added facts, in order, as three columns separated by tabs below a header row. The file
 * is written under a temporary name and renamed. kith_graph_open and kith_session_add_graph read
 * it. */
KITH_API kith_status kith_session_save(const kith_session *session, const char *path,
                                       kith_error *error);

typedef struct kith_session_fact {
    const char *subject, *relation, *object;
    kith_fact_use use;
} kith_session_fact;
KITH_API size_t kith_session_fact_count(const kith_session *session);
KITH_API kith_session_fact kith_session_fact_at(const kith_session *session, size_t index);

/* The entities described by facts that are not in train, in the order of their first facts. */
typedef struct kith_newcomer {
    const char *name;
    size_t facts; /* that can be used */
} kith_newcomer;
KITH_API size_t kith_session_newcomer_count(const kith_session *session);
KITH_API kith_newcomer kith_session_newcomer_at(const kith_session *session, size_t index);

/* Entities have the ids 0..kith_session_entity_count()-1: those below kith_graph_entity_count are
 * the graph's, followed by the session's new entities in the order in which facts first named them.
 * An id of a new entity is valid until a fact is removed. */
KITH_API uint32_t kith_session_entity_count(const kith_session *session);
/* The id of a name; KITH_ERR_NOT_FOUND if neither the graph nor a fact of the session has it. */
KITH_API kith_status kith_session_find_entity(uint32_t *entity, const kith_session *session,
                                              const char *name);
/* The name of an id; NULL if there is none. It is valid until a fact is added or removed. */
KITH_API const char *kith_session_entity_name(const kith_session *session, uint32_t entity);

/* A question: names, and NULL for what is unknown.
 *   S r ?, ? r O   asks for entities;
 *   S ? ?, ? ? O   asks for the likeliest pairs of a relation and an entity;
 *   S ? O          asks for relations.
 * A question with three names is a fact (kith_session_judge), one without an entity asks for
 * missing facts (kith_session_find_missing). */
typedef struct kith_question {
    const char *subject, *relation, *object;
} kith_question;

typedef struct kith_ask_options {
    size_t size;
    size_t top;       /* how many answers, 10 if 0 */
    int new_only;     /* omit known answers */
    /* pairs: how many relations to consider, beginning with those that the entity's relations imply
     * most strongly; 64 if 0, SIZE_MAX for all */
    size_t relations;
    unsigned threads; /* for many questions; 0: one per core */
    int both;         /* pairs: the entity's facts in both directions, as subject and as object */
    kith_candidate_set candidates;
    /* omit answers that are not known and whose probability is below this or NAN; 0: omit none */
    double min_probability;
    kith_watch_call watch;  /* NULL: none */
    void *context;          /* for watch */
} kith_ask_options;
/* All zero. */
KITH_API void kith_ask_options_init(kith_ask_options *options, size_t size);
#define kith_ask_options_init(options) kith_ask_options_init(options, sizeof *(options))

/* An answer: an entity, with the question's relation or, for pairs and relations, its own. */
typedef struct kith_answer {
    uint32_t relation, entity;
    /* Larger is likelier; comparable within one question. For pairs, the logarithm of
     * `probability`; where that is NAN, the logarithm of a product: the largest confidence with
     * which the entity's relations imply this one, times the softmax probability of the entity
     * among the candidates for the relation. */
    float score;
    /* The probability that the answer is true, computed from `probability_if_one`, the probability
     * that there is an answer that is not known yet, the facts that the answer already has, and the
     * number of known answers and facts. NAN if the answer is known, or if the model has no such
     * probability. The first answer of the explanation of a fact has one, computed with the fact
     * hidden. */
    double probability;
    /* The same if there is an answer that is not known: `probability` is the product of this and of
     * the probability of that (`has` of a verdict). Where `probability` is NAN, it is
     * `probability_if_one`; NAN if the answer is known. */
    double probability_if_any;
    /* The probability if exactly one answer is missing, by the score alone; kith_evaluate measures
     * it. NAN if the answer is known or nothing was calibrated. */
    double probability_if_one;
    int known;          /* in the graph or the session */
    int is_subject;     /* `entity` is the subject of the fact, the question's entity its object */
    /* 95 % confidence interval of the probability; 0 and 1 if that was not measured, NAN if there
     * is not a probability */
    double low, high;
} kith_answer;

/* The most probable first, equal ones by score and then by id. Without probabilities, by score. A
 * known answer comes where it would if it were not known; but known pairs come after the others,
 * known relations between two entities before them. */
typedef struct kith_answers {
    const kith_answer *const *at;
    size_t count;
    int subject_asked;    /* the query is for subjects */
    size_t relations;     /* considered: 1, or for pairs their number */
    size_t all_relations; /* that could have been considered */
} kith_answers;

/* Answer a question. Seen answers have the scores of kith_evaluate for the same entity and facts,
 * except that the entity itself is not proposed unless a known fact of the relation links an entity
 * to itself. `options` may be NULL.
 * Fails with KITH_ERR_NOT_FOUND for an unknown name, with similar names in the message; with
 * KITH_ERR_ARGUMENT for an invalid question, or if no usable fact about its entity is known. */
KITH_API kith_status kith_session_ask(kith_answers **answers, kith_session *session,
                                      const kith_question *question,
                                      const kith_ask_options *options, kith_error *error);
/* The same with a question by ids, with UINT32_MAX for the unknown: entities as in
 * kith_session_entity_count, relations of the model's graph. Fails with KITH_ERR_NOT_FOUND for an
 * id that does not exist. */
KITH_API kith_status kith_session_ask_ids(kith_answers **answers, kith_session *session,
                                          kith_triple question, const kith_ask_options *options,
                                          kith_error *error);
KITH_API void kith_answers_free(kith_answers *answers);

/* The answers to many questions, in order. A question that fails does not affect the others: its
 * answers are NULL, and its error says why. Errors are NULL for questions with answers. */
typedef struct kith_answers_batch {
    const kith_answers *const *at;
    const kith_error *const *errors;
    size_t count;
    size_t failed; /* how many have an error */
} kith_answers_batch;

/* Many questions at once, on several threads; the result does not depend on their number. Fails
 * only if none can be answered: with KITH_ERR_MEMORY, _ARGUMENT or _STOPPED. */
KITH_API kith_status kith_session_ask_all(kith_answers_batch **batch, kith_session *session,
                                          const kith_question *questions, size_t count,
                                          const kith_ask_options *options, kith_error *error);
/* The same by ids. An id that does not exist is an error of its question. */
KITH_API kith_status kith_session_ask_all_ids(kith_answers_batch **batch, kith_session *session,
                                              const kith_triple *questions, size_t count,
                                              const kith_ask_options *options, kith_error *error);
KITH_API void kith_answers_batch_free(kith_answers_batch *batch);

/* The vector of an entity for a query relation, including the session's facts about it, `dim`
 * floats; see kith_model_encode. */
KITH_API kith_status kith_session_encode(float *vector, kith_session *session, const char *entity,
                                         const char *relation, int inverse, kith_error *error);

/* ---- is it true, and what is missing ------------------------------------------------------ */

/* How likely a fact is. It is scored as an answer to S r ?, with the object among the candidates;
 * or to ? r O, if only the subject is a candidate, the model predicts only subjects, or the fact is
 * the only known one of S. A known fact is hidden from the facts of the entity that is queried. */
typedef struct kith_verdict {
    int known;          /* in the graph or the session */
    int subject_asked;  /* scored as an answer to ? r O */
    double probability; /* as in kith_answer: `has` times `probability_if_any` */
    double probability_if_any; /* as in kith_answer */
    /* the probability that S r ? (or ? r O) has an answer that is not known; NAN if the model has
     * no such probability */
    double has;
    float score;        /* as in kith_answer; NAN if `rank` is 0 */
    size_t rank;        /* among the candidates that are not known, in the order of kith_answers,
                           from 1; 0 if neither entity is a candidate, so that only the classifier
                           can be used */
    size_t candidates;  /* that are not known */
    double low, high;   /* as in kith_answer */
    /* 1 if the run was fitted on labels: `probability` and `likely` then come from its classifier,
     * as in kith_evaluate */
    int classified;
    /* 1 or 0, by the classifier's threshold for the relation if `classified`, else by whether the
     * probability is .5 or more; -1 if there is no probability */
    int likely;
    /* 1 if no other fact of the queried entity is known: there is no evidence, and no probability
     * unless by the classifier */
    int alone;
} kith_verdict;

/* The verdict on a fact, given by three names. Fails as kith_session_ask does, and with
 * KITH_ERR_ARGUMENT if neither entity can be a candidate and the run has no classifier. */
KITH_API kith_status kith_session_judge(kith_verdict **verdict, kith_session *session,
                                        const kith_question *fact, kith_error *error);
/* The same with a fact by ids, as in kith_session_ask_ids. */
KITH_API kith_status kith_session_judge_ids(kith_verdict **verdict, kith_session *session,
                                            kith_triple fact, kith_error *error);
KITH_API void kith_verdict_free(kith_verdict *verdict);

/* The verdicts on many facts; `at` and `errors` as in kith_answers_batch. */
typedef struct kith_verdicts {
    const kith_verdict *const *at;
    const kith_error *const *errors;
    size_t count;
    size_t failed;
} kith_verdicts;

/* Many facts at once; only `threads` and `watch` of the options are used. */
KITH_API kith_status kith_session_judge_all(kith_verdicts **verdicts, kith_session *session,
                                            const kith_question *facts, size_t count,
                                            const kith_ask_options *options, kith_error *error);
/* The same by ids. */
KITH_API kith_status kith_session_judge_all_ids(kith_verdicts **verdicts, kith_session *session,
                                                const kith_triple *facts, size_t count,
                                                const kith_ask_options *options, kith_error *error);
KITH_API void kith_verdicts_free(kith_verdicts *verdicts);

/* A fact that is not known, by ids as in kith_session_ask_ids. */
typedef struct kith_missing_fact {
    kith_triple fact;
    float score;
    double probability, probability_if_any, has, low, high; /* as in kith_verdict */
} kith_missing_fact;

/* Called on the caller's thread for each fact of the result, in order, as soon as no other fact can
 * rank before it. Return 0 to continue; any other value stops the work, as for a
 * kith_watch_call. */
typedef int (*kith_missing_call)(void *context, const kith_missing_fact *fact);

typedef struct kith_missing_options {
    size_t size;
    size_t top;             /* how many facts, 10 if 0 */
    size_t queries;         /* the limit on queries S r ?, 1000 if 0 */
    double min_probability; /* omit facts that are less likely than this */
    unsigned threads;       /* 0: one per core */
    kith_watch_call watch;  /* NULL: none */
    void *context;
    kith_missing_call found; /* NULL: none */
    void *found_context;
    kith_candidate_set candidates; /* which entities may be objects */
} kith_missing_options;
/* All zero. */
KITH_API void kith_missing_options_init(kith_missing_options *options, size_t size);
#define kith_missing_options_init(options) kith_missing_options_init(options, sizeof *(options))

typedef struct kith_missing {
    const kith_missing_fact *const *at; /* likeliest first */
    size_t count;
    size_t queries;    /* queries S r ? that were made */
    size_t possible; /* queries that could be made: entities times relations of train */
    int complete;    /* no other query can have a likelier answer than those listed */
} kith_missing;

/* The most likely missing facts of a relation, or with NULL of all relations. Queries S r ? are
 * made in decreasing order of the probability that S has another fact of r, until no later one can
 * give a likelier fact or the limit is reached. */
KITH_API kith_status kith_session_find_missing(kith_missing **missing, kith_session *session,
                                               const char *relation,
                                               const kith_missing_options *options,
                                               kith_error *error);
KITH_API void kith_missing_free(kith_missing *missing);

/* ---- explanations ------------------------------------------------------------------------ */

/* One neighbour of the entity: a fact that the answers depend on. */
typedef struct kith_weighted_neighbor {
    uint32_t relation, entity;
    int inverse; /* the queried entity is the object of the fact */
    int added;   /* from the session, not the graph */
    /* its weight in the entity's vector, and the parts of the weight, weight = logic + attention;
     * NAN if the model has no such part */
    double weight, logic, attention;
    /* its index in the embedding's list of neighbours; SIZE_MAX if the embedding does not read it,
     * and only rules and proximity use it */
    size_t place;
    uint32_t wins;    /* max: coordinates in which this neighbour is the largest */
    /* relation => query, the rule behind the logic weight; NULL: none */
    const kith_implication *rule;
    /* the other relation of the entity that implies this one most strongly; NULL: none */
    const kith_implication *redundant_with;
} kith_weighted_neighbor;

/* A feature of an answer, and its contribution to the score. */
typedef struct kith_feature {
    const char *name;
    kith_evidence_part part; /* KITH_PART_RULES: several kinds of rules */
    double value, points;
} kith_feature;

/* A rule that supports an answer o of q(s, ?), and the facts it applies to:
 *   direct          r(s, o)
 *   path            r1(s, between), r2(between, o)
 *   path3           r1(s, between), r2(between, between_second), r3(between_second, o)
 *   constant        r(s, between)
 *   shared-answer   r(o, between), which some known answers also have
 * The confidence is lowered for rules with few examples. That of a direct rule is mixed with how
 * often it holds at s and at o. */
typedef struct kith_reason {
    kith_evidence_part kind;
    uint32_t first, second; /* relations; UINT32_MAX if the body has no second */
    int first_inverse, second_inverse;
    uint32_t between; /* an entity; UINT32_MAX for a direct rule */
    double confidence;
    uint32_t support, body_count; /* correct in this many of this many cases in train */
    uint32_t third; /* of a body with three relations, else UINT32_MAX */
    int third_inverse;
    uint32_t between_second; /* y of a path of three steps, else UINT32_MAX */
} kith_reason;

/* One fact of a path: it leads from the previous entity to `entity`, against its direction if
 * `inverse`. */
typedef struct kith_step {
    uint32_t relation;
    int inverse;
    uint32_t entity;
} kith_step;

/* The contributions to the score of an answer: score = rules + proximity + prior + embedding. The
 * contribution of the embedding is split by neighbour: it is the sum of `neighbors` and `rest`. */
typedef struct kith_contributions {
    uint32_t entity;
    double score;
    double rules, proximity, prior, embedding;
    const kith_feature *const *features; /* for models with rule evidence, else none */
    size_t feature_count;
    const kith_reason *const *reasons; /* strongest first */
    size_t reason_count;
    const kith_step *const *path; /* the shortest path from the entity to the answer */
    size_t path_count;            /* number of facts; 0 if walks do not reach the answer */
    /* contribution of each of the explanation's neighbours; NULL if the vector is not a sum of
     * them */
    const double *neighbors;
    double rest;             /* contribution of the relation and the answer itself */
} kith_contributions;

/* The rank of one of the first answers, with all neighbours and with one masked. */
typedef struct kith_rank_change {
    size_t rank, rank_masked; /* among all candidates, by score, from 1 */
    float score, score_masked;
} kith_rank_change;

typedef struct kith_ablation {
    size_t neighbor; /* in `neighbors` */
    const kith_rank_change *const *changes; /* one for each of the first `compared` answers */
    uint32_t best;   /* the entity that is then ranked first */
} kith_ablation;

typedef enum kith_weighing {
    KITH_WEIGH_ATTENTION, /* logic, attention or both */
    KITH_WEIGH_EQUAL,     /* mean and sum: the same for each */
    KITH_WEIGH_MAX,       /* `wins` */
    KITH_WEIGH_NONE       /* lstm: only ablations */
} kith_weighing;

/* The explanation of the answers to one question; sections are in reading order. */
typedef struct kith_explanation {
    const kith_answers *answers;
    /* the relation that is explained: the question's, or that of the first pair */
    uint32_t relation;
    const kith_contributions *const *contributions; /* of the first `compared` answers */
    size_t contribution_count;
    kith_weighing weighing;
    /* highest weight first, followed by those that only rules and proximity use */
    const kith_weighted_neighbor *const *neighbors;
    size_t neighbor_count;
    /* facts that a model without rules does not use: those beyond its limit, and those with unseen
     * entities that its encoding leaves out */
    size_t unread;
    /* for each of the neighbours with the highest weights and some of those without weights, which
     * are masked one at a time */
    const kith_ablation *const *ablations;
    size_t ablation_count;
    size_t compared; /* how many of the first answers have contributions and changes of rank */
} kith_explanation;

/* Answer a question and explain the answers. For a fact (three names), the first answer is its own
 * entity, followed by the best others; a known fact is hidden, as in kith_session_judge. */
KITH_API kith_status kith_session_explain(kith_explanation **explanation, kith_session *session,
                                          const kith_question *question,
                                          const kith_ask_options *options, kith_error *error);
/* The same with a question or fact by ids, as in kith_session_ask_ids. */
KITH_API kith_status kith_session_explain_ids(kith_explanation **explanation,
                                              kith_session *session, kith_triple question,
                                              const kith_ask_options *options, kith_error *error);
KITH_API void kith_explanation_free(kith_explanation *explanation);

/* The explanations of many questions; `at` and `errors` as in kith_answers_batch. */
typedef struct kith_explanations {
    const kith_explanation *const *at;
    const kith_error *const *errors;
    size_t count;
    size_t failed;
} kith_explanations;

/* Many questions at once, as in kith_session_ask_all. */
KITH_API kith_status kith_session_explain_all(kith_explanations **explanations,
                                              kith_session *session,
                                              const kith_question *questions, size_t count,
                                              const kith_ask_options *options, kith_error *error);
/* The same by ids. */
KITH_API kith_status kith_session_explain_all_ids(kith_explanations **explanations,
                                                  kith_session *session,
                                                  const kith_triple *questions, size_t count,
                                                  const kith_ask_options *options,
                                                  kith_error *error);
KITH_API void kith_explanations_free(kith_explanations *explanations);

#ifdef __cplusplus
}
#endif
#endif
