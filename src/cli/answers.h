/* What predict, explain and shell share: parsing facts and questions as users type them, and
 * printing answers as text and as JSON. */
#ifndef KITH_CLI_ANSWERS_H
#define KITH_CLI_ANSWERS_H

#include "cli/cli.h"

/* A text split into three names, which point into `copy`; the caller frees `copy`. */
typedef struct fields {
    char *copy;
    const char *name[3];
    bool quoted[3];
} fields;

/* Split "SUBJECT RELATION OBJECT" at tabs (or \t) if it contains any, otherwise at single spaces. A
 * name that contains spaces is put in double quotes, and "" inside it stands for a double quote.
 * Returns false and sets `why` if there are not three names. */
bool cut_fields(fields *out, const char *text, char why[256]);

/* One name, which may be in quotes; false if out of memory. */
bool cut_name(fields *out, const char *text);

/* The fields of a question, with NULL for "?". Returns false and sets `why` if it is not a
 * question. */
bool cut_question(fields *out, const char *text, char why[256]);
/* The same, but three names are also a question: whether the fact is true. */
bool cut_any_question(fields *out, const char *text, char why[256]);

/* A name for display, with IRIs shortened by prefixes. It stays valid until a few calls later. */
const char *name_text(const kith_graph *graph, const char *name);
/* "Label (name)", or the name alone. */
const char *relation_text(const kith_graph *graph, uint32_t relation);
const char *relation_name_text(const kith_graph *graph, const char *name);
/* Resolve the fields to names of the graph: prefixed names and labels are replaced, NULL stays. */
kith_question meant_question(const kith_graph *graph, const fields *f);
/* The same for a fact to be added, which may be about a new entity: a label of several entities is
 * noted. A question with one fails when it is asked. */
kith_question meant_fact(const kith_graph *graph, const fields *f);

/* The arguments of predict, explain and shell, and the objects they open. */
typedef struct query_arguments {
    common_arguments common;
    text_list facts, files, queries, about;
    const char *query_file;
    int format; /* index in `formats` */
    double min_probability;
    uint64_t questions;       /* maximum number of questions for '? R ?' */
    int new_only, candidates; /* candidates: index of the choice */
    size_t relations;
    const char *html;
    kith_ask_options ask;
    kith_model *model;
    kith_session *session;
} query_arguments;

/* Parse "all" or a positive integer into a size_t. */
bool parse_relations(void *to, const char *text);

#define OPTION_FACT(what)                                                                          \
    {                                                                                              \
        "fact", 0, "'S R O'", what, OPTION_TEXTS, offsetof(query_arguments, facts)                 \
    }
#define OPTION_FACTS(what)                                                                         \
    {                                                                                              \
        "facts", 0, "FILE", what, OPTION_TEXTS, offsetof(query_arguments, files)                   \
    }

/* For the help of --candidates. */
#define NEW_CANDIDATES                                                                             \
    "; runs without rules, and those with --unseen-neighbors off, propose no new ones"

#define QUERY_OPTIONS                                                                              \
    {"query",                                                                                      \
     0,                                                                                            \
     "'S R ?'",                                                                                    \
     "a query, with ? for each unknown; * stands for every new entity; may be given "              \
     "several times",                                                                              \
     OPTION_TEXTS,                                                                                 \
     offsetof(query_arguments, queries)},                                                          \
        {"about",      0,                                                                          \
         "ENTITY",     "query 'ENTITY ? ?' and '? ? ENTITY' at once; may be given several times",  \
         OPTION_TEXTS, offsetof(query_arguments, about)},                                          \
        {"questions",                                                                              \
         0,                                                                                        \
         "N",                                                                                      \
         "'? R ?' makes at most N queries 'S R ?', beginning with the entities that "              \
         "most likely have another fact of the relation",                                          \
         OPTION_INTEGER,                                                                           \
         offsetof(query_arguments, questions),                                                     \
         "1000",                                                                                   \
         .low = 1,                                                                                 \
         .high = UINT32_MAX},                                                                      \
        OPTION_FACT("a fact to add: subject, relation and object, separated by tabs (or \\t) or "  \
                    "by spaces; put names that contain spaces in double quotes; may be given "     \
                    "several times"),                                                              \
        OPTION_FACTS("facts to add, about any number of entities, in any format that kith reads; " \
                     "- for standard input"),                                                      \
        OPTION_TOP("number of answers", "10"),                                                     \
        {"new-only",           0,           NULL,                                                  \
         "omit known answers", OPTION_FLAG, offsetof(query_arguments, new_only)},                  \
        {"relations",                                                                              \
         0,                                                                                        \
         "N|all",                                                                                  \
         "how many relations 'S ? ?' considers, beginning with those that the entity's "           \
         "relations imply most strongly",                                                          \
         OPTION_CHECKED,                                                                           \
         offsetof(query_arguments, relations),                                                     \
         "64",                                                                                     \
         .take = parse_relations,                                                                  \
         .expected = "a positive integer or all"},                                                 \
        OPTION_CANDIDATES(query_arguments, candidates, "all", NEW_CANDIDATES), OPTION_ON,          \
        OPTION_COLUMNS, OPTION_THREADS, OPTION_QUIET, OPTION_JSON

/* The outcome of adding the facts of a source. */
typedef struct added_facts {
    size_t used, ignored;
    char text[320]; /* "added 3 facts, ignored 2 (known already)" */
} added_facts;
/* Add the facts of a source to the session. */
kith_status say_source(added_facts *added, query_arguments *a, const char *path,
                       kith_error *error);
/* The number of the session's facts that are used. */
size_t used_facts(const kith_session *session);
/* Open the run and add the facts; returns the exit status. */
int begin_queries(query_arguments *a, const command *self);
void end_queries(query_arguments *a);

/* An unquoted * that is not an entity of the graph stands for every new entity with usable facts.
 * Returns its index among the three names, or a negative number if there is none. */
int star_of(const query_arguments *a, const fields *f);
/* Iterate over the new entities with usable facts. `index` must be 0 at first; returns NULL after
 * the last. */
const char *next_newcomer(size_t *index, const query_arguments *a);
void fill_star(kith_question *question, int star, const char *name);
#define NO_NEWCOMER "no usable fact tells about a new entity, so '*' stands for none"

/* The questions, with * replaced by new entities. `held` owns their names. */
typedef struct questions {
    kith_question *at;
    size_t count;
    size_t about; /* questions from this index on ask about an entity in both directions */
    fields *held;
    size_t held_count;
    bool failed; /* a question had * but there are no new entities; this was reported */
} questions;
int read_questions(questions *out, const query_arguments *a, const command *self);
void free_questions(questions *q);

/* The result of a question. */
typedef enum question_kind { ASKS_ENTITIES, ASKS_TRUTH, ASKS_MISSING } question_kind;
typedef struct result {
    question_kind kind;
    kith_error error; /* KITH_OK if there is a result */
    const kith_answers *answers;
    const kith_verdict *verdict;
    bool omitted; /* the verdict is below --min-probability */
    kith_missing *missing;
    kith_answers *own;         /* the answers, if the question was asked on its own */
    kith_verdict *own_verdict; /* the verdict, if the question was asked on its own */
    /* in the first result only: owns all answers and verdicts of a batch */
    kith_answers_batch *batch;
    kith_verdicts *verdicts;
} result;
question_kind kind_of(const kith_question *q);
/* Ask all questions. An error in a question is stored in its result. Fails only if out of memory or
 * if the user stops it. */
kith_status ask_questions(result *results, query_arguments *a, const questions *q,
                          kith_error *error);
void release_results(result *results, size_t count);
/* Whether it is faster to ask the questions as a batch than one by one. */
bool can_ask_together(const questions *q);
/* Ask only question `index`. Each missing fact is passed to `found` (may be NULL) as soon as its
 * rank is final. */
kith_status ask_question(result *r, query_arguments *a, const questions *q, size_t index,
                         kith_missing_call found, void *context, kith_error *error);

/* Find the most likely missing facts of a relation, or of all relations if it is NULL; shows
 * progress on a terminal. */
kith_status find_missing(kith_missing **missing, query_arguments *a, const char *relation,
                         size_t top, kith_missing_call found, void *context, kith_error *error);

/* A question with its answers, or the verdict on a fact, and the explanation. */
typedef struct explained {
    kith_question question; /* for '? R ?', the most likely missing fact */
    kith_explanation *why;
    kith_verdict *verdict; /* NULL if the question is not a fact */
} explained;
kith_status explain_question(explained *out, query_arguments *a, kith_question q, bool both,
                             kith_error *error);
void release_explained(explained *e);
void print_explained(const explained *e, const kith_graph *graph);
json_t *explained_json(const explained *e, const kith_graph *graph);

void print_result(const result *r, const kith_question *q, const kith_graph *graph);
/* Print missing facts one at a time: the question, one fact with its rank, and a summary of what
 * was asked. */
void print_missing_head(const kith_question *q, const kith_graph *graph);
void print_missing_fact(const kith_missing_fact *f, size_t rank, const kith_graph *graph);
void print_missing_end(const kith_missing *m);
json_t *result_json(const result *r, const kith_question *q, const kith_graph *graph);
/* Print the header row of a table, and the rows for one result. */
void print_table_head(void);
void print_rows(const result *r, const kith_question *q, size_t number, const kith_graph *graph);
void print_missing_row(const kith_missing_fact *f, size_t number, size_t rank,
                       const kith_graph *graph);

/* Whether an interval is wide, so that it should be shown: a few cases must not look like many. */
bool is_wide(double low, double high);
/* Whether that of some answer is; then all of the list are shown. */
bool some_wide(const kith_answers *answers);
/* Print " [83-99 %]", the 95 % confidence interval of a probability; " [0-100 %]" if nothing is
 * known. */
void print_interval(double low, double high);
void print_verdict(const kith_verdict *v, const kith_question *q, const kith_graph *graph);
/* Print what speaks against a fact: that its entity is unlikely to have one, and what ranks above
 * it. */
void print_against(const kith_verdict *v, const kith_explanation *e, const kith_question *q,
                   const kith_graph *graph);
json_t *verdict_json(const kith_verdict *v);
const char *verdict_word(const kith_verdict *v); /* "known", "likely", "unlikely", "unknown" */
/* "likely", "unlikely" or "unknown", whether or not the fact is known */
const char *likely_word(const kith_verdict *v);

/* Use this session's names for entities that the graph lacks, until the next call; NULL: none. */
void name_new_entities_by(const kith_session *session);
/* The name of an entity of the graph or of a new one, and its label, or its name if it has none. */
const char *name_of_entity(const kith_graph *graph, uint32_t entity);
const char *label_of_entity(const kith_graph *graph, uint32_t entity);
/* "Label (name)", or the name alone; to be freed. */
char *readable_entity(const kith_graph *graph, uint32_t entity);
/* The same for a name, with "?" for NULL; to be freed. */
char *readable_name(const kith_graph *graph, const char *name);

/* Print a line with labels, and "?" for the unknown side. */
void print_question(const kith_question *q, const kith_graph *graph);
void print_answers(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
/* Note on stderr the first few ignored facts, with suggestions, and how to list the rest. */
void print_ignored(const kith_session *session, const kith_graph *graph, size_t from,
                   const char *how);
#define JSON_NAMES_ALL "; --json names all"

/* Set "relation_label" if the relation has a label. */
void set_relation_label(json_t *object, const kith_graph *graph, uint32_t relation);
json_t *question_json(const kith_question *q);
json_t *answers_json(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
json_t *ignored_json(const kith_session *session);

/* The sections of an explanation other than the answers, as text and as JSON. */
void print_explanation(const kith_explanation *e, const kith_question *q, const kith_graph *graph);
void explanation_json(json_t *object, const kith_explanation *e, const kith_graph *graph);

/* Open the run, read the questions and call `answer`. */
int ask_and(int (*answer)(query_arguments *a, const questions *q), const command *self,
            query_arguments *a);

#endif
