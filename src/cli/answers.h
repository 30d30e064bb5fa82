/* What predict, explain and shell share: facts and questions as people type them, and answers as
 * people and programs read them. */
#ifndef KITH_CLI_ANSWERS_H
#define KITH_CLI_ANSWERS_H

#include "cli/cli.h"

/* A text cut into three names; they point into `copy`, which is to be freed. */
typedef struct fields {
    char *copy;
    const char *name[3];
} fields;

/* Cut "SUBJECT RELATION OBJECT": at tabs (or \t) where there are any, else at single spaces, with
 * "..." around a name that has spaces. False where there are not three names; `why` says so. */
bool cut_fields(fields *out, const char *text, char why[256]);

/* The fields of a question, "?" as NULL; false with the reason where it has none or three. */
bool cut_question(fields *out, const char *text, char why[256]);

/* The arguments of predict, explain and shell, and what they open. */
typedef struct asking {
    common_arguments common;
    text_list facts, files, queries;
    int new_only;
    size_t relations;
    const char *html;
    kith_ask_options ask;
    kith_model *model;
    kith_session *session;
} asking;

/* "all", or a number above 0, into a size_t. */
bool parse_relations(void *to, const char *text);

#define QUERY_OPTIONS                                                                              \
    {"query",                                                                                      \
     0,                                                                                            \
     "'S R ?'",                                                                                    \
     "a question, ? on either side; may be given several times. 'S ? ?' asks for the likeliest "   \
     "relations with their entities; * as a name stands for every new entity",                     \
     OPTION_TEXTS,                                                                                 \
     offsetof(asking, queries),                                                                    \
     .required = true},                                                                            \
        {"fact",                                                                                   \
         0,                                                                                        \
         "'S R O'",                                                                                \
         "a fact: subject, relation and object, separated by tabs (or \\t), or by spaces with "    \
         "names that contain one in double quotes; may be given several times",                    \
         OPTION_TEXTS,                                                                             \
         offsetof(asking, facts)},                                                                 \
        {"facts",                                                                                  \
         0,                                                                                        \
         "FILE",                                                                                   \
         "facts about any number of new entities, from a source of any format that kith reads; - " \
         "for standard input",                                                                     \
         OPTION_TEXTS,                                                                             \
         offsetof(asking, files)},                                                                 \
        OPTION_TOP("how many answers", "10"), {"new-only",  0,                                     \
                                               NULL,        "leave out answers that are known",    \
                                               OPTION_FLAG, offsetof(asking, new_only)},           \
        {"relations",                                                                              \
         0,                                                                                        \
         "N|all",                                                                                  \
         "how many relations 'S ? ?' considers, those first that the entity's own imply most",     \
         OPTION_CHECKED,                                                                           \
         offsetof(asking, relations),                                                              \
         "64",                                                                                     \
         .take = parse_relations,                                                                  \
         .expected = "a positive integer or all"},                                                 \
        OPTION_ON, OPTION_THREADS, OPTION_QUIET, OPTION_JSON

/* Open the run and say the facts; returns the exit status. */
int begin_asking(asking *a, const command *self);
void end_asking(asking *a);

/* The questions, "*" standing for every newcomer with usable facts. `held` keeps their names. */
typedef struct questions {
    kith_question *at;
    size_t count;
    fields *held;
    size_t held_count;
} questions;
int read_questions(questions *out, const asking *a, const command *self);
void free_questions(questions *q);

/* "Label (name)", or the name alone; to be freed. */
char *readable_entity(const kith_graph *graph, uint32_t entity);

void print_answers(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
/* On stderr, the first few with what may have been meant. */
void print_ignored(const kith_session *session, const kith_graph *graph, size_t from);

json_t *question_json(const kith_question *q);
json_t *answers_json(const kith_answers *answers, const kith_question *q, const kith_graph *graph);
json_t *ignored_json(const kith_session *session);

/* The explanation's sections behind the answers, for a person and for programs. */
void print_explanation(const kith_explanation *e, const kith_question *q, const kith_graph *graph);
void explanation_json(json_t *object, const kith_explanation *e, const kith_graph *graph);

/* Open the run, read the questions and answer. */
int ask_and(int (*answer)(asking *a, const questions *q), const command *self, asking *a);

#endif
