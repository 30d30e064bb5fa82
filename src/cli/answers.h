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

/* Cut "SUBJECT RELATION OBJECT": at tabs (or \t) where there are any, else at single blanks, with
 * "..." around a name that has blanks. False where there are not three names; `why` says so. */
bool cut_fields(fields *out, const char *text, char why[256]);

/* The fields of a question, "?" as NULL; false with the reason where it has none or three. */
bool cut_question(fields *out, const char *text, char why[256]);

/* Open a run and tell it all facts of the command line; and take questions from it. */
typedef struct asking {
    const char *folder;
    const char **facts, **files, **queries; /* as many as arguments at most */
    size_t fact_count, file_count, query_count;
    kith_ask_options ask;
    bool json;
    const char *html; /* of explain: a page to write */
    kith_model *model;
    kith_session *session;
} asking;

/* Options that predict and explain have. Returns -1 to go on, else the exit status. */
int take_asking(asking *a, const command *self, int argc, char **argv);
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

/* A command that takes these arguments: read them, open the run, read the questions and answer. */
int ask_and(int (*answer)(asking *a, const questions *q), const command *self, int argc,
            char **argv);

#endif
