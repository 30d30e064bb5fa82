#include <editline/readline.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answers.h"
#include "cli/signals.h"
#include "core/numbers.h"

typedef struct {
    query_arguments a; /* first member: arguments are parsed into it */
    fields last;       /* the last question, for "why" */
    bool last_about;
    size_t used; /* number of facts of the session that are used */
    bool interactive, failed, finished;
    int ended; /* exit status if a signal ended the shell, else 0 */
} shell;

/* Global, because libedit passes no context to completion functions. */
static const kith_graph *completed;
static const kith_session *completing;

/* ---- running a line ---- */

static void complain(shell *s, const char *what, const char *why)
{
    fflush(stdout);
    put(stderr, "kith: %s%s%s\n", what, *what ? ": " : "", why);
    s->failed = true;
}

static const char *command_at(const void *context, size_t i);
static const char *usage_of(const char *name);

/* Report a line that is neither a fact nor a question. It may begin with a mistyped command. */
static void not_understood(shell *s, const char *text, const char *why)
{
    size_t length = strcspn(text, " ");
    char *word = strndup(text, length);
    const char *near = word && length > 2 ? nearest_name(word, command_at, NULL) : NULL;
    char message[400];

    if (near && strcmp(near, word) == 0) {
        complain(s, near, usage_of(near));
        free(word);
        return;
    }
    if (near)
        snprintf(message, sizeof message, "did you mean '%s'? (%s)", near, why);
    else
        snprintf(message, sizeof message, "%s", why);
    complain(s, "not a command, a fact or a question", message);
    free(word);
}

static void add_fact(shell *s, const char *text)
{
    const kith_graph *graph = kith_model_graph(s->a.model);
    size_t before = kith_session_fact_count(s->a.session);
    kith_fact_use use = KITH_FACT_USES;
    kith_error error;
    fields f;
    char why[256];

    if (!cut_fields(&f, text, why)) {
        not_understood(s, text, why);
        return;
    }
    kith_question fact = meant_question(graph, &f);
    if (kith_session_add(&use, s->a.session, fact.subject, fact.relation, fact.object, &error) !=
        KITH_OK)
        complain(s, "", error.message);
    s->used += use == KITH_FACT_USED;
    if (use == KITH_FACT_USED)
        say("added (%zu fact%s)\n", s->used, s->used == 1 ? "" : "s");
    else if (use < KITH_FACT_USES)
        print_ignored(s->a.session, graph, before, "");
    free(f.copy);
}

/* The current question is over. At an interactive prompt, Ctrl-C only stops the question; otherwise
 * signals end the shell. */
static void note_signal(shell *s)
{
    int status = was_stopped() ? stopped_status() : 0;

    stop_at_once();
    forget_signal();
    if (status && !(s->interactive && status == 128 + SIGINT)) {
        s->ended = status;
        s->finished = true;
    }
}

/* False if it was stopped. */
static bool answer_one(shell *s, kith_question question, bool why)
{
    const kith_graph *graph = kith_model_graph(s->a.model);
    const questions q = {.at = &question, .count = 1, .about = s->last_about ? 0 : 1};
    explained e = {0};
    result r = {0};
    kith_error error = {KITH_OK, ""};

    stop_gently();
    kith_status status = why ? explain_question(&e, &s->a, question, s->last_about, &error)
                             : ask_questions(&r, &s->a, &q, &error);
    note_signal(s);
    if (status == KITH_OK && r.error.status != KITH_OK) {
        error = r.error;
        status = error.status;
    }
    if (status != KITH_OK)
        complain(s, "", status == KITH_ERR_STOPPED ? "stopped" : error.message);
    else if (why)
        print_explained(&e, graph);
    else
        print_result(&r, &question, graph);
    release_explained(&e);
    release_results(&r, 1);
    return status != KITH_ERR_STOPPED;
}

/* Answer the last question; if it contains *, ask about each new entity. */
static void answer(shell *s, bool why)
{
    kith_question question = meant_question(kith_model_graph(s->a.model), &s->last);
    int star = star_of(&s->a, &s->last);
    size_t i = 0;
    const char *name = star < 0 ? NULL : next_newcomer(&i, &s->a);

    if (star < 0)
        answer_one(s, question, why);
    else if (!name)
        complain(s, "", NO_NEWCOMER);
    for (bool going = true; name && going; name = next_newcomer(&i, &s->a)) {
        fill_star(&question, star, name);
        going = answer_one(s, question, why);
    }
}

/* Ask a question, which is kept for "why". */
static void ask(shell *s, fields f, bool about, bool why)
{
    free(s->last.copy);
    s->last = f;
    s->last_about = about;
    answer(s, why);
}

/* False if the text is not a question; three names are a question only if `facts` is set. */
static bool ask_text(shell *s, const char *text, bool facts, bool why)
{
    fields f;
    char reason[256];

    if (facts ? !cut_any_question(&f, text, reason) : !cut_question(&f, text, reason))
        return false;
    ask(s, f, false, why);
    return true;
}

/* ---- commands: one function each ---- */

static void do_why(shell *s, const char *rest)
{
    (void)rest;
    if (!s->last.copy)
        complain(s, "why", "no question yet");
    else
        answer(s, true);
}

static void do_check(shell *s, const char *rest)
{
    fields f;
    char reason[256];

    if (!cut_fields(&f, rest, reason))
        complain(s, "check", reason);
    else
        ask(s, f, false, false);
}

static void do_about(shell *s, const char *rest)
{
    fields f;

    if (cut_name(&f, rest))
        ask(s, f, true, false);
    else
        complain(s, "", "out of memory");
}

static void do_undo(shell *s, const char *rest)
{
    size_t count = kith_session_fact_count(s->a.session);
    kith_session_fact f =
        count ? kith_session_fact_at(s->a.session, count - 1) : (kith_session_fact){0};

    (void)rest;
    if (count == 0) {
        complain(s, "undo", "there is no fact to remove");
        return;
    }
    say("removed: %s  %s  %s\n", f.subject, f.relation, f.object);
    kith_session_undo(s->a.session);
    s->used = used_facts(s->a.session);
}

static void do_remove(shell *s, const char *rest)
{
    kith_error error;
    fields f;
    char why[256];

    if (!cut_fields(&f, rest, why)) {
        complain(s, "remove", why);
        return;
    }
    kith_question fact = meant_question(kith_model_graph(s->a.model), &f);
    kith_status status =
        kith_session_remove(s->a.session, fact.subject, fact.relation, fact.object, &error);
    if (status != KITH_OK)
        complain(s, "remove", error.message);
    else
        say("removed: %s  %s  %s\n", f.name[0], f.name[1], f.name[2]);
    while (status == KITH_OK) /* the fact may have been added several times */
        status =
            kith_session_remove(s->a.session, fact.subject, fact.relation, fact.object, &error);
    s->used = used_facts(s->a.session);
    free(f.copy);
}

/* A path, which may be in double quotes like a name; NULL if out of memory. */
static char *path_of(const char *text)
{
    size_t length = strlen(text);
    bool quoted = length > 2 && text[0] == '"' && text[length - 1] == '"';

    return quoted ? strndup(text + 1, length - 2) : strdup(text);
}

static void do_save(shell *s, const char *rest)
{
    size_t count = kith_session_fact_count(s->a.session);
    char *path = path_of(rest);
    kith_error error;

    if (!path)
        complain(s, "save", "out of memory");
    else if (kith_session_save(s->a.session, path, &error) != KITH_OK)
        complain(s, "save", error.message);
    else
        say("saved (%zu fact%s)\n", count, count == 1 ? "" : "s");
    free(path);
}

static void do_load(shell *s, const char *rest)
{
    size_t before = kith_session_fact_count(s->a.session);
    char *path = path_of(rest);
    added_facts added;
    kith_error error;
    kith_status status = path ? say_source(&added, &s->a, path, &error) : KITH_ERR_MEMORY;

    free(path);
    if (status != KITH_OK) {
        complain(s, "load", status == KITH_ERR_MEMORY ? "out of memory" : error.message);
        return;
    }
    s->used += added.used;
    say("%s\n", added.text);
    print_ignored(s->a.session, kith_model_graph(s->a.model), before, "; 'facts' lists all");
}

static void do_facts(shell *s, const char *rest)
{
    (void)rest;
    for (size_t i = 0; i < kith_session_fact_count(s->a.session); i++) {
        kith_session_fact f = kith_session_fact_at(s->a.session, i);
        say("%4zu  %s  %s  %s%s%s%s\n", i + 1, f.subject, f.relation, f.object,
            f.use == KITH_FACT_USED ? "" : "  [ignored: ",
            f.use == KITH_FACT_USED ? "" : kith_fact_use_text(f.use),
            f.use == KITH_FACT_USED ? "" : "]");
    }
}

static void do_find(shell *s, const char *rest)
{
    enum { FOUND = 10 };
    const kith_graph *graph = kith_model_graph(s->a.model);
    uint32_t ids[FOUND];
    size_t entities = kith_graph_suggest_entities(ids, FOUND, graph, rest);

    for (size_t i = 0; i < entities; i++) {
        char *text = readable_entity(graph, ids[i]);
        say("  %s\n", text ? text : "");
        free(text);
    }
    for (size_t i = 0; i < kith_session_newcomer_count(s->a.session); i++) {
        const char *name = kith_session_newcomer_at(s->a.session, i).name;
        if (!strcasestr(name, rest))
            continue;
        say("  %s  [added]\n", name);
        entities++;
    }
    size_t relations = kith_graph_suggest_relations(ids, FOUND, graph, rest);
    for (size_t i = 0; i < relations; i++)
        say("  %s  [relation]\n", relation_text(graph, ids[i]));
    if (entities + relations == 0)
        complain(s, rest, "no similar name");
}

static void do_top(shell *s, const char *rest)
{
    uint64_t number;

    if (!kith__parse_count(&number, rest, 1, UINT32_MAX))
        complain(s, "top", "expected a positive integer");
    else
        s->a.ask.top = (size_t)number;
}

static void do_new_only(shell *s, const char *rest)
{
    if (strcmp(rest, "on") != 0 && strcmp(rest, "off") != 0)
        complain(s, "new-only", "expected on or off");
    else
        s->a.ask.new_only = rest[1] == 'n';
}

static void do_quit(shell *s, const char *rest)
{
    (void)rest;
    s->finished = true;
}

static void do_help(shell *s, const char *rest);

static const struct {
    const char *name, *help;
    bool takes_text;
    void (*run)(shell *, const char *);
} lines[] = {
    {"check", "check SUBJECT RELATION OBJECT: is it true?", true, do_check},
    {"about", "about ENTITY: what else is likely, as subject and as object", true, do_about},
    {"why", "reasons for the last answer, or: why QUESTION|FACT", false, do_why},
    {"undo", "remove the last fact", false, do_undo},
    {"remove", "remove SUBJECT RELATION OBJECT: remove this fact", true, do_remove},
    {"facts", "list the facts added", false, do_facts},
    {"save", "save FILE: write the facts added to a file", true, do_save},
    {"load", "load SOURCE: add the facts of a file or folder", true, do_load},
    {"find", "find TEXT: find similar names and labels", true, do_find},
    {"top", "top N: how many answers", true, do_top},
    {"new-only", "new-only on|off: leave out known answers", true, do_new_only},
    {"help", "show this", false, do_help},
    {"quit", "leave; also exit", false, do_quit},
    {"exit", NULL, false, do_quit},
};
enum { LINES = sizeof lines / sizeof *lines };

static const char *command_at(const void *context, size_t i)
{
    (void)context;
    return i < LINES ? lines[i].name : NULL;
}

static const char *usage_of(const char *name)
{
    static char text[128];

    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i].name, name) == 0 && lines[i].takes_text)
            snprintf(text, sizeof text, "expected %s", lines[i].help);
        else if (strcmp(lines[i].name, name) == 0)
            snprintf(text, sizeof text, "expected nothing after it");
    return text;
}

/* Whether the text begins with a command that takes text. */
static bool begins_as_command(const char *text)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t length = strlen(lines[i].name);
        if (lines[i].takes_text && strncmp(text, lines[i].name, length) == 0 &&
            text[length] == ' ')
            return true;
    }
    return false;
}

static void do_help(shell *s, const char *rest)
{
    (void)s, (void)rest;
    say("  SUBJECT RELATION OBJECT   add a fact; put names that contain spaces in double quotes\n"
        "  SUBJECT RELATION ?        which entity; also ? RELATION OBJECT\n"
        "  SUBJECT ? OBJECT          which relation\n"
        "  SUBJECT ? ?               which relations with which entities; also ? ? OBJECT\n"
        "  ? RELATION ?, ? ? ?       the likeliest missing facts\n"
        "  * in place of a SUBJECT or OBJECT of a question stands for every new entity\n");
    for (size_t i = 0; i < LINES; i++)
        if (lines[i].help)
            say("  %-24s  %s\n", lines[i].name, lines[i].help);
}

/* Facts and questions have three fields. So a command is either a single word or one that takes
 * text. */
static bool run_command(shell *s, const char *text)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t length = strlen(lines[i].name);
        if (strncmp(text, lines[i].name, length) != 0 || (text[length] && text[length] != ' '))
            continue;
        const char *rest = text + length + (text[length] == ' ');
        if (!*rest ? lines[i].takes_text : !lines[i].takes_text)
            continue;
        lines[i].run(s, rest);
        return true;
    }
    return false;
}

static bool is_relation(const shell *s, const char *name)
{
    uint32_t relation;

    return kith_graph_resolve_relation(&relation, kith_model_graph(s->a.model), name, NULL) ==
           KITH_OK;
}

static void run_line(shell *s, char *text)
{
    size_t length = strlen(text);
    fields f;
    char reason[256];

    while (length > 0 && strchr(" \r\n", text[length - 1]))
        text[--length] = '\0';
    text += strspn(text, " ");
    if (!*text || *text == '#')
        return;
    if (ask_text(s, text, false, false) ||
        (strncmp(text, "why ", 4) == 0 && ask_text(s, text + 4, true, true)))
        return;
    /* Three names are a fact, even if the first is the name of a command, provided that the
     * relation is known. */
    bool fact = cut_fields(&f, text, reason);
    if (fact) {
        fact = !begins_as_command(text) || is_relation(s, f.name[1]);
        free(f.copy);
    }
    if (fact || !run_command(s, text))
        add_fact(s, text);
}

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
    bool blanks = strchr(name, ' ') != NULL;

    if (blanks && !open && skip > 0)
        return NULL;
    if (asprintf(&text, "%s%s%s", blanks && !open ? "\"" : "", name + skip,
                 blanks || open ? "\"" : "") < 0)
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

static void talk(shell *s)
{
    char *history = history_path(), *line;

    rl_initialize();
    rl_attempted_completion_function = complete;
    rl_completer_word_break_characters = (char *)" \t";
    if (history)
        read_history(history);
    say("%s: enter facts and questions; help lists the commands\n", s->a.common.operand);
    while (!s->finished && (line = readline("kith> "))) {
        if (*line)
            add_history(line);
        run_line(s, line);
        fflush(stdout);
        free(line);
    }
    if (!s->finished)
        say("\n");
    if (history)
        write_history(history);
    free(history);
}

static void read_script(shell *s)
{
    char *line = NULL;
    size_t capacity = 0;

    while (!s->finished && getline(&line, &capacity, stdin) > 0)
        run_line(s, line);
    free(line);
}

static int run(const command *self, void *arguments)
{
    shell *s = arguments;
    int status = begin_queries(&s->a, self);

    s->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (status == EXIT_SUCCESS) {
        completed = kith_model_graph(s->a.model);
        completing = s->a.session;
        if (s->interactive)
            talk(s);
        else
            read_script(s);
        status = s->ended ? s->ended
                          : s->failed && !s->interactive ? EXIT_FAILED : EXIT_SUCCESS;
    }
    free(s->last.copy);
    end_queries(&s->a);
    return status;
}

static const option_row options[] = {OPTION_TOP("number of answers", "10"),
                                     OPTION_CANDIDATES(query_arguments, candidates, "all"),
                                     OPTION_ON,
                                     OPTION_COLUMNS,
                                     OPTION_THREADS,
                                     OPTION_QUIET};

const command cmd_shell = {
    .name = "shell",
    .group = GROUP_QUESTIONS,
    .summary = "interactive prompt for facts and queries",
    .operand = "RUN",
    .most_operands = 1,
    .about =
        "Reads facts, queries and commands, one per line, from a terminal or a script on standard\n"
        "input:\n\n"
        "  SUBJECT RELATION OBJECT   add a fact; put names that contain spaces in double quotes,\n"
        "                            or separate the names by tabs\n"
        "  SUBJECT RELATION ?        which entity? also: ? RELATION OBJECT\n"
        "  SUBJECT ? OBJECT          which relation?\n"
        "  SUBJECT ? ?, ? ? OBJECT   what else is likely about an entity?\n"
        "  ? RELATION ?, ? ? ?       which facts does the graph most likely lack?\n"
        "  * RELATION ?              which entity, for every new entity? * may stand in any query\n"
        "  check SUBJECT RELATION OBJECT   is it true?\n"
        "  about ENTITY              what else is likely, as subject and as object?\n"
        "  why                       explain the last answer, or: why QUERY|FACT\n"
        "  undo                      remove the last fact\n"
        "  remove S R O              remove this fact\n"
        "  facts                     list the facts added\n"
        "  save FILE, load SOURCE    write the facts added to a file; add those of a source\n"
        "  find TEXT                 find similar names and labels\n"
        "  top N                     number of answers\n"
        "  new-only on|off           omit known answers, or show them\n"
        "  help, quit or exit\n\n"
        "Names may also be typed as prefix:name, <IRI> or a label that only one entity has.\n"
        "At the prompt, Ctrl-C stops a query that takes long, and Tab completes names. The "
        "history\n"
        "is kept in ~/.kith_history, or in the file named by KITH_HISTORY. The exit status of a\n"
        "script is 1 if one of its lines failed.",
    OPTIONS(options),
    .arguments_size = sizeof(shell),
    .examples = "  kith shell run\n"
                "  printf 'dee plays_for Bulls\\ndee lives_in ?\\nwhy\\n' | kith shell run\n",
    .run = run,
};
