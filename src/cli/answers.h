/* What predict, explain and shell share: facts and questions as people type them, and answers as
 * people and programs read them. */
#ifndef KITH_CLI_ANSWERS_H
#define KITH_CLI_ANSWERS_H

#include "cli/cli.h"

/* A text cut into three names; they point into `copy`, which is to be freed. */
typedef struct fields {
    char *copy;
    const char *name[3];
    bool quoted[3];
} fields;

/* Cut "SUBJECT RELATION OBJECT": at tabs (or \t) where there are any, else at single spaces, with
 * "..." around a name that has spaces, and "" in it for a double quote. False where there are not
 * three names; `why` says so. */
bool cut_fields(fields *out, const char *text, char why[256]);

/* One name, which may be in quotes; false if out of memory. */
bool cut_name(fields *out, const char *text);

/* The fields of a question, "?" as NULL; false with the reason where it has none. */
bool cut_question(fields *out, const char *text, char why[256]);
/* The same where three names are a question too: whether the fact is true. */
bool cut_any_question(fields *out, const char *text, char why[256]);
/* A file's first line without the mark that may precede it. */
char *after_byte_order_mark(char *line);

/* A name as people read it, an IRI by its prefix; lives until some later calls. */
const char *name_text(const kith_graph *graph, const char *name);
/* "Label (name)", or the name alone. */
const char *relation_text(const kith_graph *graph, uint32_t relation);
const char *relation_name_text(const kith_graph *graph, const char *name);
/* The names that people mean by fields: prefixed names and labels become names of the graph; NULL
 * stays. */
kith_question meant_question(const kith_graph *graph, const fields *f);

/* The arguments of predict, explain and shell, and what they open. */
typedef struct query_arguments {
    common_arguments common;
    text_list facts, files, queries, about;
    const char *query_file;
    int format; /* of `formats` */
    double min_probability;
    uint64_t questions;       /* that '? R ?' asks at most */
    int new_only, candidates; /* the latter: its place among the choices */
    size_t relations;
    const char *html;
    kith_ask_options ask;
    kith_model *model;
    kith_session *session;
} query_arguments;

/* "all", or a number above 0, into a size_t. */
bool parse_relations(void *to, const char *text);

#define OPTION_CANDIDATES                                                                          \
    {                                                                                              \
        "candidates", 0, "seen|all|new",                                                           \
            "which entities may be answers: those in train (seen), all, or only new ones, "        \
            "which are in added or support facts but not in train",                                \
            OPTION_CHOICE, offsetof(query_arguments, candidates), "all"                            \
    }

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
        {"fact",                                                                                   \
         0,                                                                                        \
         "'S R O'",                                                                                \
         "a fact to add: subject, relation and object, separated by tabs (or \\t) or by "          \
         "spaces; put names that contain spaces in double quotes; may be given several times",     \
         OPTION_TEXTS,                                                                             \
         offsetof(query_arguments, facts)},                                                        \
        {"facts",                                                                                  \
         0,                                                                                        \
         "FILE",                                                                                   \
         "facts to add, about any number of entities, in any format that kith reads; - for "       \
         "standard input",                                                                         \
         OPTION_TEXTS,                                                                             \
         offsetof(query_arguments, files)},                                                        \
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
        OPTION_CANDIDATES, OPTION_ON, OPTION_COLUMNS, OPTION_THREADS, OPTION_QUIET, OPTION_JSON

/* What became of the facts of a source. */
typedef struct added_facts {
    size_t used, ignored;
    char text[320]; /* "added 3 facts, ignored 2 (known already)" */
} added_facts;
/* Add the facts of a source to the session. */
kith_status say_source(added_facts *added, query_arguments *a, const char *path,
                       kith_error *error);
/* How many of the session's facts are used. */
size_t used_facts(const kith_session *session);
/* Open the run and add the facts; returns the exit status. */
int begin_queries(query_arguments *a, const command *self);
void end_queries(query_arguments *a);

/* The name *, which is not quoted and no entity of the graph, stands for every new entity with
 * usable facts: its place among the names, or below 0. */
int star_of(const query_arguments *a, const fields *f);
/* The new entities with usable facts, in order: `index` begins at 0; NULL past the last. */
const char *next_newcomer(size_t *index, const query_arguments *a);
void fill_star(kith_question *question, int star, const char *name);
#define NO_NEWCOMER "no usable fact tells about a new entity, so '*' stands for none"

/* The questions, with new entities for "*". `held` keeps their names. */
typedef struct questions {
    kith_question *at;
    size_t count;
    size_t about; /* from here on they are asked in both directions */
    fields *held;
    size_t held_count;
    bool failed; /* "*" of one of them stands for none, which was said */
} questions;
int read_questions(questions *out, const query_arguments *a, const command *self);
void free_questions(questions *q);

/* What a question gave. */
typedef enum question_kind { ASKS_ENTITIES, ASKS_TRUTH, ASKS_MISSING } question_kind;
typedef struct result {
    question_kind kind;
    kith_error error; /* KITH_OK where there is a result */
    const kith_answers *answers;
    const kith_verdict *verdict;
    kith_missing *missing;
    kith_answers *own;         /* the answers, where they were asked for alone */
    kith_verdict *own_verdict; /* likewise */
    kith_answers_batch *batch; /* of the first result: where the answers and verdicts of all are */
    kith_verdicts *verdicts;
} result;
question_kind kind_of(const kith_question *q);
/* Ask all questions. What is wrong with one is in its result; fails if out of memory or the
 * user stops it. */
kith_status ask_questions(result *results, query_arguments *a, const questions *q,
                          kith_error *error);
void release_results(result *results, size_t count);
/* Whether the questions are answered faster together than one by one. */
bool can_ask_together(const questions *q);
/* Question `index` alone. Missing facts are handed to `found` (or NULL) as soon as their place is
 * sure. */
kith_status ask_question(result *r, query_arguments *a, const questions *q, size_t index,
                         kith_missing_call found, void *context, kith_error *error);

/* The likeliest missing facts of a relation, or of all where it is NULL, with progress on a
 * terminal. */
kith_status find_missing(kith_missing **missing, query_arguments *a, const char *relation,
                         size_t top, kith_missing_call found, void *context, kith_error *error);

/* A question with its answers, or the verdict on a fact, and the reasons. */
typedef struct explained {
    kith_question question; /* of '? R ?', the likeliest missing fact */
    kith_explanation *why;
    kith_verdict *verdict; /* NULL if the question is not a fact */
} explained;
kith_status explain_question(explained *out, query_arguments *a, kith_question q, bool both,
                             kith_error *error);
void release_explained(explained *e);
void print_explained(const explained *e, const kith_graph *graph);
json_t *explained_json(const explained *e, const kith_graph *graph);

void print_result(const result *r, const kith_question *q, const kith_graph *graph);
/* Missing facts as they come: the question, one fact with its rank, and what was asked. */
void print_missing_head(const kith_question *q, const kith_graph *graph);
void print_missing_fact(const kith_missing_fact *f, size_t rank, const kith_graph *graph);
void print_missing_end(const kith_missing *m);
json_t *result_json(const result *r, const kith_question *q, const kith_graph *graph);
/* The columns of a table, and its rows for one result. */
void print_table_head(void);
void print_rows(const result *r, const kith_question *q, size_t number, const kith_graph *graph);
void print_missing_row(const kith_missing_fact *f, size_t number, size_t rank,
                       const kith_graph *graph);

/* " [83-99 %]" behind a probability: its 95 % confidence interval where that is wide, so that a few
 * cases do not look like many; " [0-100 %]" where nothing is known. */
void print_interval(double low, double high);
void print_verdict(const kith_verdict *v, const kith_question *q, const kith_graph *graph);
/* What speaks against a fact: that its entity is unlikely to have one, and what ranks above it. */
void print_against(const kith_verdict *v, const kith_explanation *e, const kith_question *q,
                   const kith_graph *graph);
json_t *verdict_json(const kith_verdict *v);
const char *verdict_word(const kith_verdict *v); /* "known", "likely", "unlikely", "unknown" */
const char *likely_word(const kith_verdict *v);  /* the same, whether or not it is known */

/* Names of entities that the graph lacks are those of this session, until another is given or
 * NULL. */
void name_new_entities_by(const kith_session *session);
/* Of the graph, or new. The label is the name where it has none. */
const char *name_of_entity(const kith_graph *graph, uint32_t entity);
const char *label_of_entity(const kith_graph *graph, uint32_t entity);
/* "Label (name)", or the name alone; to be freed. */
char *readable_entity(const kith_graph *graph, uint32_t entity);
/* The same by its name, "?" for NULL; to be freed. */
char *readable_name(const kith_graph *graph, const char *name);

/* A line with labels, "?" for what is asked. */
void print_question(const kith_question *q, const kith_graph *graph);
void print_answers(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
/* On stderr, the first few with what may have been meant, and how to see all others. */
void print_ignored(const kith_session *session, const kith_graph *graph, size_t from,
                   const char *how);
#define JSON_NAMES_ALL "; --json names all"

/* "relation_label", where the relation has one. */
void set_relation_label(json_t *object, const kith_graph *graph, uint32_t relation);
json_t *question_json(const kith_question *q);
json_t *answers_json(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
json_t *ignored_json(const kith_session *session);

/* The explanation's sections behind the answers, for a person and for programs. */
void print_explanation(const kith_explanation *e, const kith_question *q, const kith_graph *graph);
void explanation_json(json_t *object, const kith_explanation *e, const kith_graph *graph);

/* Open the run, read the questions and answer. */
int ask_and(int (*answer)(query_arguments *a, const questions *q), const command *self,
            query_arguments *a);

#endif
