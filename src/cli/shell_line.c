/* Running one line of kith shell: facts and questions; commands are in shell_commands.c. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shell.h"
#include "cli/signals.h"

void shell_complain(shell *s, const char *what, const char *why)
{
    fflush(stdout);
    put(stderr, "kith: %s%s%s\n", what, *what ? ": " : "", why);
    s->failed = true;
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
        shell_not_understood(s, text, why);
        return;
    }
    kith_question fact = meant_fact(graph, &f);
    if (kith_session_add(&use, s->a.session, fact.subject, fact.relation, fact.object, &error) !=
        KITH_OK)
        shell_complain(s, "", error.message);
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

/* Returns false if it was stopped. */
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
        shell_complain(s, "", status == KITH_ERR_STOPPED ? "stopped" : error.message);
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
        shell_complain(s, "", NO_NEWCOMER);
    for (bool going = true; name && going; name = next_newcomer(&i, &s->a)) {
        fill_star(&question, star, name);
        going = answer_one(s, question, why);
    }
}

void shell_explain_last(shell *s)
{
    answer(s, true);
}

static void ask(shell *s, fields f, bool about, bool why)
{
    free(s->last.copy);
    s->last = f;
    s->last_about = about;
    answer(s, why);
}

void shell_ask(shell *s, fields f, bool about)
{
    ask(s, f, about, false);
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

static bool is_relation(const shell *s, const char *name)
{
    uint32_t relation;

    return kith_graph_resolve_relation(&relation, kith_model_graph(s->a.model), name, NULL) ==
           KITH_OK;
}

void shell_run_line(shell *s, char *text)
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
        fact = !shell_begins_as_command(text) || is_relation(s, f.name[1]);
        free(f.copy);
    }
    if (fact || !shell_run_command(s, text))
        add_fact(s, text);
}
