/* Reading the files of a run without opening it, which would read the whole graph. */
#ifndef KITH_CLI_RUN_FILES_H
#define KITH_CLI_RUN_FILES_H

#include <stdbool.h>

/* The number of facts of held-out entities that the fusion was fitted on; -1 if there is none. */
long long facts_fitted_on(const char *folder);

/* The number of facts of dev that the probabilities of a run without rules were fitted on; -1 if it
 * has none. */
long long facts_calibrated_on(const char *folder);

/* Report on stderr, once, that training of the run was stopped before its end. */
void tell_unfinished(const char *folder);

/* Whether the run has test facts that kith eval can rank or classify. */
bool can_evaluate(const char *folder);

/* A question 'S R ?' with names of the run's graph, quoted for a shell; to be freed. NULL if none
 * can be typed. */
char *example_question(const char *folder);

/* A word quoted for a shell if necessary; to be freed. */
char *shell_word(const char *text);

#endif
