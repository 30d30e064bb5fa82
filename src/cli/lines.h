/* Reading text line by line. What cannot be read is reported, and is not taken for the end. */
#ifndef KITH_CLI_LINES_H
#define KITH_CLI_LINES_H

#include <stdbool.h>
#include <stdio.h>

typedef struct line_reader {
    FILE *in;
    const char *path; /* for messages */
    char *text;       /* the line, without its end and without a byte order mark */
    size_t length, number, capacity;
    bool takes_nul; /* set by the caller: a NUL is not an error, but sets has_nul for its line */
    bool has_nul;
    int status; /* not 0 after an error */
} line_reader;

/* Read the next line; false at the end and after an error. */
bool next_line(line_reader *r);
/* Free the line; returns the exit status. */
int end_lines(line_reader *r);

#endif
