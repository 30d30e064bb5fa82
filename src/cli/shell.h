/* kith shell: what its files share. */
#ifndef KITH_CLI_SHELL_H
#define KITH_CLI_SHELL_H

#include "cli/answers.h"

typedef struct shell {
    query_arguments a; /* first member: arguments are parsed into it */
    fields last;       /* the last question, for "why" */
    bool last_about;
    size_t used; /* number of facts of the session that are used */
    bool interactive, failed, finished;
    int ended; /* exit status if a signal ended the shell, else 0 */
} shell;

/* Report an error; the shell goes on, but a script then ends with the status 1. */
void shell_complain(shell *s, const char *what, const char *why);

/* Run one line: a fact, a question or a command. The line is changed. */
void shell_run_line(shell *s, char *line);
/* Ask a question, which is kept for "why"; takes ownership of the fields. `about`: about an entity
 * in both directions. */
void shell_ask(shell *s, fields f, bool about);
/* Explain the last question. */
void shell_explain_last(shell *s);

/* Run a command, if the text is one: a single word, or one that takes text. */
bool shell_run_command(shell *s, const char *text);
/* Whether the text begins with a command that takes text. */
bool shell_begins_as_command(const char *text);
/* Report a line that is neither a fact nor a question. It may begin with a mistyped command. */
void shell_not_understood(shell *s, const char *text, const char *why);

/* Read and run lines at a terminal, with completion and a history. */
void shell_prompt(shell *s);

#endif
