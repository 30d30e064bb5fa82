/* What the files of a run say without opening it, which reads the whole graph. */
#ifndef KITH_CLI_RUN_FILES_H
#define KITH_CLI_RUN_FILES_H

#include <stdbool.h>

/* On how many facts of held-out entities the run's evidence was weighed; -1 where it has none. */
long long facts_fitted_on(const char *folder);

/* Say on stderr, once, that training of the run was stopped before its end. */
void tell_unfinished(const char *folder);

/* Whether the run's graph has test facts. */
bool has_test(const char *folder);

/* 'S R ?' with names of the run's graph, quoted for a shell; to be freed. NULL: none can be typed. */
char *example_question(const char *folder);

/* A word as a shell takes it, in quotes where it needs them; to be freed. */
char *shell_word(const char *text);

#endif
