#include "report/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "report/document.h"

static void put_argument(command_line *c, const char *argument)
{
    char *copy = strdup(argument);

    if (!copy || kith__reserve(&c->argv, &c->capacity, c->argc + 2, sizeof *c->argv)) {
        free(copy);
        c->no_memory = true;
        return;
    }
    c->argv[c->argc++] = copy;
    c->argv[c->argc] = NULL;
}

static void put_option(command_line *c, const char *name, const char *value)
{
    json_t *option = format_string("--%s", name);
    put_argument(c, json_string_value(option));
    put_argument(c, value);
    json_decref(option);
}

static void put_number(command_line *c, const char *name, unsigned value)
{
    char text[32];
    snprintf(text, sizeof text, "%u", value);
    put_option(c, name, text);
}

static void put_path(command_line *c, const char *option, const job *j, const char *name)
{
    char *path = job_path(j, name);
    if (option)
        put_option(c, option, path ? path : "");
    else
        put_argument(c, path ? path : "");
    free(path);
}

void command_release(command_line *c)
{
    for (size_t i = 0; i < c->argc; i++)
        free(c->argv[i]);
    kith__free(c->argv);
}

static bool has_file(const job *j, const char *name)
{
    char *path = job_path(j, name);
    bool found = path && access(path, F_OK) == 0;
    free(path);
    return found;
}

static void train_command(command_line *c, const job *j)
{
    json_t *value;
    const char *name;
    char text[64];

    c->output = "train.json";
    put_argument(c, "train");
    if (has_file(j, "model")) {
        put_path(c, "resume", j, "model");
        return;
    }
    put_argument(c, j->source);
    put_path(c, "output", j, "model");
    put_option(c, "preset", text_of(j->info, "preset"));
    json_object_foreach(json_object_get(j->info, "given"), name, value)
        put_option(c, name, value_text(text, value));
    put_option(c, "seed", value_text(text, json_object_get(j->info, "seed")));
}

static void eval_command(command_line *c, const job *j)
{
    c->output = "eval.json";
    put_argument(c, "eval");
    put_path(c, NULL, j, "model");
    put_path(c, "ranks", j, "ranks.tsv");
    if (j->on)
        put_option(c, "on", j->on);
}

/* The questions, then the facts of test whose ranks the report shows. */
static void explain_command(command_line *c, const plan *p, const job *j)
{
    const json_t *questions = json_object_get(j->identity, "questions"), *query, *fact;
    size_t i, k;

    c->output = "explain.json";
    put_argument(c, "explain");
    put_path(c, NULL, &p->jobs[j->needs], "model");
    put_number(c, "top", 10);
    put_argument(c, "--new-only");
    json_array_foreach(questions, i, query)
        put_option(c, "query", text_of(query, "text"));
    json_array_foreach(questions, i, query)
        json_array_foreach(json_object_get(query, "ranked"), k, fact)
            put_option(c, "query", text_of(fact, "text"));
}

static void stats_command(command_line *c, const job *j)
{
    c->output = "stats.json";
    put_argument(c, "stats");
    put_argument(c, j->source);
}

bool command_make(command_line *c, const plan *p, const job *j, int step)
{
    *c = (command_line){.argc = 0};
    if (step >= (j->kind == JOB_TRAIN ? 2 : 1))
        return false;
    put_argument(c, "kith");
    if (j->kind == JOB_STATISTICS)
        stats_command(c, j);
    else if (j->kind == JOB_EXPLAIN)
        explain_command(c, p, j);
    else if (step == 0)
        train_command(c, j);
    else
        eval_command(c, j);
    put_argument(c, "--json");
    if (p->options.threads > 0)
        put_number(c, "threads", p->options.threads);
    return true;
}

json_t *command_text(const command_line *c)
{
    text_buffer line = {0};

    for (size_t i = 0; i < c->argc; i++) {
        const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=";
        bool quote = strspn(c->argv[i], plain) != strlen(c->argv[i]);
        text_put(&line, i > 0 ? " " : "");
        text_put(&line, quote ? "'" : "");
        for (const char *at = c->argv[i]; *at; at++)
            text_add(&line, *at == '\'' ? "'\\''" : "%c", *at);
        text_put(&line, quote ? "'" : "");
    }
    json_t *made = safe_string(line.at ? line.at : "");
    text_release(&line);
    return made;
}

json_t *commands_json(const plan *p, const job *j)
{
    json_t *list = json_array();
    command_line c;

    for (int step = 0; command_make(&c, p, j, step); step++) {
        json_array_append_new(list, command_text(&c));
        command_release(&c);
    }
    return list;
}
