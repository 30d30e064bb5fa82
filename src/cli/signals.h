/* Ctrl-C and SIGTERM: a command that is stopped ends with 128 plus the signal, 130 or 143. */
#ifndef KITH_CLI_SIGNALS_H
#define KITH_CLI_SIGNALS_H

#include <stdbool.h>

/* After this call, these signals end the program at once, with that status. */
void catch_signals(void);
/* From here on the first one asks to stop, so that nothing is left half-written, and ends the
 * program 0.4 seconds later where it has not stopped by then. */
void stop_soon(void);
/* From here on the first one only asks to stop, so that what can be kept is kept. In either case a
 * second one ends the program. */
void stop_gently(void);
void stop_at_once(void); /* as in the beginning */
/* What it was to stop has stopped, and the program goes on. */
void forget_signal(void);
/* Whether one came, and the exit status for it. */
bool was_stopped(void);
/* Whether one came after stop_soon: then its status is that of the command, however far it got. */
bool is_stopping(void);
int stopped_status(void);

#endif
