/* The commands of kith shell: one function each, and a table. */
#include <stdlib.h>
#include <string.h>

#include "cli/shell.h"
#include "core/numbers.h"

static void do_why(shell *s, const char *rest)
{
    (void)rest;
    if (!s->last.copy)
        shell_complain(s, "why", "no question yet");
    else
        shell_explain_last(s);
}

static void do_check(shell *s, const char *rest)
{
    fields f;
    char reason[256];

    if (!cut_fields(&f, rest, reason))
        shell_complain(s, "check", reason);
    else
        shell_ask(s, f, false);
}

static void do_about(shell *s, const char *rest)
{
    fields f;

    if (cut_name(&f, rest))
        shell_ask(s, f, true);
    else
        shell_complain(s, "", "out of memory");
}

static void do_undo(shell *s, const char *rest)
{
    size_t count = kith_session_fact_count(s->a.session);
    kith_session_fact f =
        count ? kith_session_fact_at(s->a.session, count - 1) : (kith_session_fact){0};

    (void)rest;
    if (count == 0) {
        shell_complain(s, "undo", "there is no fact to remove");
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
        shell_complain(s, "remove", why);
        return;
    }
    kith_question fact = meant_fact(kith_model_graph(s->a.model), &f);
    kith_status status =
        kith_session_remove(s->a.session, fact.subject, fact.relation, fact.object, &error);
    if (status != KITH_OK)
        shell_complain(s, "remove", error.message);
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
        shell_complain(s, "save", "out of memory");
    else if (kith_session_save(s->a.session, path, &error) != KITH_OK)
        shell_complain(s, "save", error.message);
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
        shell_complain(s, "load", status == KITH_ERR_MEMORY ? "out of memory" : error.message);
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
        shell_complain(s, rest, "no similar name");
}

static void do_top(shell *s, const char *rest)
{
    uint64_t number;

    if (!kith__parse_count(&number, rest, 1, UINT32_MAX))
        shell_complain(s, "top", "expected a positive integer");
    else
        s->a.ask.top = (size_t)number;
}

static void do_new_only(shell *s, const char *rest)
{
    if (strcmp(rest, "on") != 0 && strcmp(rest, "off") != 0)
        shell_complain(s, "new-only", "expected on or off");
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
bool shell_begins_as_command(const char *text)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t length = strlen(lines[i].name);
        if (lines[i].takes_text && strncmp(text, lines[i].name, length) == 0 && text[length] == ' ')
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
bool shell_run_command(shell *s, const char *text)
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

/* Report a line that is neither a fact nor a question. It may begin with a mistyped command. */
void shell_not_understood(shell *s, const char *text, const char *why)
{
    size_t length = strcspn(text, " ");
    char *word = strndup(text, length);
    const char *nearest = word && length > 2 ? nearest_name(word, command_at, NULL) : NULL;
    char message[400];

    if (nearest && strcmp(nearest, word) == 0) {
        shell_complain(s, nearest, usage_of(nearest));
        free(word);
        return;
    }
    if (nearest)
        snprintf(message, sizeof message, "did you mean '%s'? (%s)", nearest, why);
    else
        snprintf(message, sizeof message, "%s", why);
    shell_complain(s, "not a command, a fact or a question", message);
    free(word);
}
