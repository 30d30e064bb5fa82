/* Ctrl-C and SIGTERM: a command that is stopped ends with 128 plus the signal, 130 or 143. */
#ifndef KITH_CLI_SIGNALS_H
#define KITH_CLI_SIGNALS_H

#include <stdbool.h>

/* From here on these signals end the program at once, with that status. */
void catch_signals(void);
/* From here on the first one only asks to stop, so that what can be kept is kept; a second one ends
 * the program. */
void stop_gently(void);
/* Whether one came, and the exit status for it. */
bool was_stopped(void);
int stopped_status(void);

#endif
