/* Ctrl-C and SIGTERM: a stopped command exits with status 128 plus the signal number, 130 or
 * 143. */
#ifndef KITH_CLI_SIGNALS_H
#define KITH_CLI_SIGNALS_H

#include <stdbool.h>

/* After this call, these signals end the program at once, with that status. */
void catch_signals(void);
/* After this call, the first signal asks to stop, so that nothing is left half-written, and ends
 * the program 0.4 seconds later if it has not stopped by then. */
void stop_soon(void);
/* After this call, the first signal only asks to stop, so that results can be saved. In either case
 * a second one ends the program. */
void stop_gently(void);
void stop_at_once(void); /* the same behaviour as after catch_signals */
/* The interrupted work has stopped, and the program continues. */
void forget_signal(void);
/* Whether a signal came, and its exit status. */
bool was_stopped(void);
/* Whether a signal came after stop_soon: then the command ends with its status. */
bool is_stopping(void);
int stopped_status(void);

#endif
