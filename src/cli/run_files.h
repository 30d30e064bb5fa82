/* What the files of a run say without opening it, which reads the whole graph. */
#ifndef KITH_CLI_RUN_FILES_H
#define KITH_CLI_RUN_FILES_H

/* On how many facts of held-out entities the run's evidence was weighed; -1 where it has none. */
long long facts_fitted_on(const char *folder);

/* Say on stderr, once, that training of the run was stopped before its end. */
void tell_unfinished(const char *folder);

#endif
