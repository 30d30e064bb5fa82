#include <stdlib.h>
#include <unistd.h>

#include "cli/lines.h"
#include "cli/shell.h"

static void read_script(shell *s)
{
    line_reader lines = {.in = stdin, .path = "/dev/stdin"};

    while (!s->finished && next_line(&lines))
        shell_run_line(s, lines.text);
    s->failed |= end_lines(&lines) != EXIT_SUCCESS;
}

static int run(const command *self, void *arguments)
{
    shell *s = arguments;
    int status = begin_queries(&s->a, self);

    s->interactive = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (status == EXIT_SUCCESS) {
        if (s->interactive)
            shell_prompt(s);
        else
            read_script(s);
        status = s->ended ? s->ended : s->failed && !s->interactive ? EXIT_FAILED : EXIT_SUCCESS;
    }
    free(s->last.copy);
    end_queries(&s->a);
    return status;
}

static const option_row options[] = {OPTION_TOP("number of answers", "10"),
                                     OPTION_CANDIDATES(query_arguments, candidates, "all",
                                                       NEW_CANDIDATES),
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
        "N % beside an answer is the probability that it is true; [low-high %] is its 95 %\n"
        "confidence interval, shown in lists in which one is wide, and always for '? R ?'.\n"
        "(N % if any) is the probability assuming that the query has an answer that is not known\n"
        "yet; a run without rules has only this one. Answers are sorted by the probability that\n"
        "they are true, then by score.\n\n"
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
