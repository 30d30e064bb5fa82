/* The prompt of kith shell: reading at a terminal, completion and history. */
#include <editline/readline.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell.h"

/* Global, because libedit passes no context to completion functions. */
static const kith_graph *completed;
static const kith_session *completing;

/* ---- completion ---- */

/* The field that the cursor is in, and where its name begins: after an open quote, or at the
 * word. */
static int field_at(const char *line, int end, int *begins)
{
    int field = 0;
    bool quoted = false;

    *begins = 0;
    for (int i = 0; i < end; i++) {
        if (line[i] == '"' && (quoted || i == *begins)) {
            quoted = !quoted;
            *begins = quoted ? i + 1 : *begins;
        } else if (line[i] == ' ' && !quoted) {
            field++;
            *begins = i + 1;
        }
    }
    return field;
}

static const char *name_at(size_t index, bool relation)
{
    size_t all = relation ? kith_graph_seen_relation_count(completed)
                          : kith_graph_seen_entity_count(completed);
    if (index < all)
        return relation ? kith_graph_relation_name(completed, (uint32_t)index)
                        : kith_graph_entity_name(completed, (uint32_t)index);
    return relation ? NULL : kith_session_newcomer_at(completing, index - all).name;
}

/* A name from index `skip` on, with the quotes that it needs; NULL if it cannot be completed. */
static char *quoted_rest(const char *name, size_t skip, bool open)
{
    char *text = NULL;
    bool spaces = strchr(name, ' ') != NULL;

    if (spaces && !open && skip > 0)
        return NULL;
    if (asprintf(&text, "%s%s%s", spaces && !open ? "\"" : "", name + skip,
                 spaces || open ? "\"" : "") < 0)
        return NULL;
    return text;
}

/* The next match for the text before the cursor. */
static char *next_match(const char *word, int state)
{
    static size_t index, typed, skip;
    static int begins;
    static bool relation, open;
    int end = rl_point, start = end - (int)strlen(word);

    if (state == 0) {
        int field = field_at(rl_line_buffer, end, &begins);
        bool why = strncmp(rl_line_buffer, "why ", 4) == 0;
        relation = field - why == 1;
        open = begins > 0 && rl_line_buffer[begins - 1] == '"';
        typed = (size_t)(end - begins);
        skip = start > begins ? (size_t)(start - begins) : 0;
        index = 0;
    }
    for (const char *name; (name = name_at(index, relation));) {
        index++;
        /* libedit prints matches unescaped, so a name with control characters is not offered. */
        char *match = strncmp(name, rl_line_buffer + begins, typed) == 0 && is_plain(name)
                          ? quoted_rest(name, skip, open)
                          : NULL;
        /* The word may include the opening quote. */
        if (match && open && start < begins) {
            char *whole = NULL;
            if (asprintf(&whole, "\"%s", match) < 0)
                whole = NULL;
            free(match);
            match = whole;
        }
        if (match)
            return match;
    }
    return NULL;
}

static char **complete(const char *word, int start, int end)
{
    (void)start, (void)end;
    rl_attempted_completion_over = 1; /* do not complete names of files */
    return rl_completion_matches(word, next_match);
}

/* ---- reading ---- */

static char *history_path(void)
{
    const char *chosen = getenv("KITH_HISTORY"), *home = getenv("HOME");
    char *path = NULL;

    if (chosen)
        return strdup(chosen);
    return home && asprintf(&path, "%s/.kith_history", home) >= 0 ? path : NULL;
}

void shell_prompt(shell *s)
{
    char *history = history_path(), *line;

    completed = kith_model_graph(s->a.model);
    completing = s->a.session;
    rl_initialize();
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = (char *)" \t";
    if (history)
        read_history(history);
    say("%s: enter facts and questions; help lists the commands\n", s->a.common.operand);
    while (!s->finished && (line = readline("kith> "))) {
        if (*line)
            add_history(line);
        shell_run_line(s, line);
        fflush(stdout);
        free(line);
    }
    if (!s->finished)
        say("\n");
    if (history)
        write_history(history);
    free(history);
}
