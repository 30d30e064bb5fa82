/* Every file of a run, as edits to a small run that is made once (edits.h). Before them may stand:
 * run embedding|rules|fused which one; the first where it is not said seal make checksums and
 * hashes right again afterwards, as somebody would who knows the format A run that opens answers
 * with numbers. Without `seal` it gives the answers of the run as it was, or is refused, or warns
 * that it has no checksums. */
#include "../src/run/cache.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "edits.h"
#include "fuzz.h"
#include "run/config.h"

enum { KINDS = 3 };

static const struct {
    const char *name, *preset, *evidence;
    bool labels; /* of dev */
} kinds[KINDS] = {{"embedding", "release", "none", false},
                  {"rules", "rules", "rules", true},
                  {"fused", "release", "fused", true}};

static struct {
    stored_folder files;
    uint64_t answers;
    char path[128];
    bool rewrite; /* the folder was changed: write all files */
} base[KINDS];

/* ---- the runs ---- */

static const char facts[] =
    "ann\tborn_in\tparis\nbob\tborn_in\trome\ncleo\tborn_in\tparis\ndan\tborn_in\tlyon\n"
    "paris\tlocated_in\tfrance\nlyon\tlocated_in\tfrance\nrome\tlocated_in\titaly\n"
    "ann\tcitizen_of\tfrance\nbob\tcitizen_of\titaly\ncleo\tcitizen_of\tfrance\n"
    "dan\tcitizen_of\tfrance\nann\tknows\tbob\nbob\tknows\tann\ncleo\tknows\tdan\n";

static void write_source(bool labels)
{
    static const char names[] = "ann\tAnn A.\nparis\tParis\n", aux[] = "eve\tborn_in\tlyon\n";
    const char *dev = labels ? "ann\tknows\tdan\t1\nann\tknows\trome\t0\ncleo\tknows\tbob\t1\n"
                             : "ann\tknows\tdan\ncleo\tknows\tbob\n";
    static const char test[] = "eve\tcitizen_of\tfrance\n";

    scratch_keep_folder("source");
    write_file(scratch_path("source/train"), facts, sizeof facts - 1);
    write_file(scratch_path("source/dev"), dev, strlen(dev));
    write_file(scratch_path("source/test"), test, sizeof test - 1);
    write_file(scratch_path("source/aux"), aux, sizeof aux - 1);
    write_file(scratch_path("source/entity_name.txt"), names, sizeof names - 1);
}

static void set(kith_settings *settings, const char *name, const char *value)
{
    require(kith_settings_set(settings, name, value, NULL) == KITH_OK, "a setting can be set");
}

/* The cache is valid for files of a certain time, so all get the same time. */
static void set_times(const char *path)
{
    static const char *const names[] = {"train", "dev", "test", "aux", "entity2id.txt",
                                        "relation2id.txt", "entity_name.txt"};
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    char full[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(full, sizeof full, "%s/graph/%s", path, names[i]);
        utimensat(AT_FDCWD, full, times, 0);
    }
}

static kith_status answer(uint64_t *sum, const char *path, kith_error *error);

static void make_run(int kind)
{
    kith_graph *graph = NULL;
    kith_settings *settings = NULL;
    kith_error error = {0};

    write_source(kinds[kind].labels);
    snprintf(base[kind].path, sizeof base[kind].path, "%s", scratch_path(kinds[kind].name));
    require(kith_graph_open(&graph, scratch_path("source"), NULL, &error) == KITH_OK,
            error.message);
    require(kith_settings_new(&settings, kinds[kind].preset, &error) == KITH_OK, error.message);
    set(settings, "evidence", kinds[kind].evidence);
    if (strcmp(kinds[kind].evidence, "rules") != 0) {
        set(settings, "dim", "4");
        set(settings, "batch", "8");
        set(settings, "epochs", "2");
        set(settings, "max-neighbors", "8");
    }
    require(kith_train(NULL, base[kind].path, graph, settings,
                       &(kith_train_options){.threads = 1}, &error) == KITH_OK, error.message);
    kith_settings_free(settings);
    kith_graph_free(graph);
    set_times(base[kind].path);
    require(answer(&base[kind].answers, base[kind].path, &error) == KITH_OK, error.message);
    folder_read(&base[kind].files, base[kind].path);
    require(folder_find(&base[kind].files, "cache.bin") != NULL, "a run gets a cache");
}

static void make_runs(void)
{
    static bool made;

    if (made)
        return;
    made = true;
    scratch_folder();
    for (int kind = 0; kind < KINDS; kind++)
        make_run(kind);
}

/* ---- what a run answers ---- */

static void add_answers(kith__checksum *sum, const kith_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        const kith_answer *a = answers->at[i];
        require(isfinite(a->score), "a score is finite");
        require(!(a->probability < 0 || a->probability > 1), "a probability is one");
        require(!(a->probability_if_any < 0 || a->probability_if_any > 1), "a probability is one");
        kith__checksum_add(sum, &a->entity, sizeof a->entity);
        kith__checksum_add(sum, &a->relation, sizeof a->relation);
        kith__checksum_add(sum, &a->score, sizeof a->score);
        kith__checksum_add(sum, &(int){a->known}, sizeof(int));
        if (!isnan(a->probability_if_any))
            kith__checksum_add(sum, &a->probability_if_any, sizeof a->probability_if_any);
    }
}

static void ask(kith__checksum *sum, kith_session *session, kith_question question)
{
    kith_answers *answers = NULL;
    kith_explanation *explanation = NULL;
    kith_verdict *verdict = NULL;
    const bool fact = question.subject && question.relation && question.object;

    if (!fact && kith_session_ask(&answers, session, &question, NULL, NULL) == KITH_OK)
        add_answers(sum, answers);
    if (kith_session_explain(&explanation, session, &question, NULL, NULL) == KITH_OK)
        add_answers(sum, explanation->answers);
    if (fact && kith_session_judge(&verdict, session, &question, NULL) == KITH_OK)
        kith__checksum_add(sum, &verdict->score, sizeof verdict->score);
    kith_answers_free(answers);
    kith_explanation_free(explanation);
    kith_verdict_free(verdict);
}

static void evaluate(kith__checksum *sum, kith_model *model)
{
    for (int split = KITH_DEV; split <= KITH_TEST; split++) {
        kith_eval_options options;
        kith_eval *result = NULL;
        kith_eval_options_init(&options);
        options.split = (kith_split)split;
        if (kith_evaluate(&result, model, &options, NULL) != KITH_OK)
            continue;
        kith__checksum_add(sum, &result->realistic->mrr, sizeof result->realistic->mrr);
        kith__checksum_add(sum, &result->accuracy, sizeof result->accuracy);
        kith_eval_free(result);
    }
}

static void ask_all(kith__checksum *sum, kith_model *model)
{
    const kith_graph *graph = kith_model_graph(model);
    kith_session *session = NULL;

    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++) {
        const char *label = kith_graph_entity_label(graph, e);
        kith__checksum_add(sum, label, strlen(label));
    }
    require(kith_session_new(&session, model, NULL) == KITH_OK, "a session opens");
    kith_session_add(NULL, session, "fay", "born_in", "paris", NULL);
    ask(sum, session, (kith_question){"fay", "citizen_of", NULL});
    ask(sum, session, (kith_question){NULL, "citizen_of", "france"});
    ask(sum, session, (kith_question){"ann", NULL, NULL});
    ask(sum, session, (kith_question){"eve", "citizen_of", "italy"});
    kith_session_free(session);
}

/* A hash of all answers of a run; 0 if it opened with a warning. */
static kith_status answer(uint64_t *number, const char *path, kith_error *error)
{
    kith_model *model = NULL;
    kith__checksum sum;
    kith_status status = kith_model_open(&model, path, &(kith_work_options){.threads = 1}, error);

    if (status != KITH_OK)
        return status;
    kith__checksum_init(&sum);
    ask_all(&sum, model);
    evaluate(&sum, model);
    *number = kith_model_warning(model, 0) ? 0 : kith__checksum_value(&sum);
    kith_model_free(model);
    return KITH_OK;
}

/* ---- forging checksums ---- */

static void forge_cache(stored_file *cache, uint64_t key, uint64_t *data_hash, uint64_t *derived)
{
    kith_graph g = {.map = cache->bytes, .map_bytes = cache->length};
    kith__implications r = {0};
    kith__neighbor_lists l = {0};
    header h;
    pieces p;

    if (cache->gone || cache->length < aligned(sizeof h))
        return;
    memcpy(&h, cache->bytes, sizeof h);
    h.bytes = cache->length;
    h.key = key;
    if (counts_fit(&h)) {
        describe(&p, &h, &g, &r, &l);
        set_numbers(&g, &r, &l, &h);
        if (place_pieces(&p, cache->bytes, &h) && ends_agree(&h, &g, &r, &l) &&
            kith__cache_arrays_valid(&g, (size_t)h.label_bytes, h.has_rules ? &r : NULL, &l,
                                     NULL)) {
            *data_hash = h.data_hash = kith_graph_hash(&g);
            *derived = h.derived = kith__derived_hash(&g, h.has_rules ? &r : NULL, &l);
        }
    }
    h.sum = header_sum(&h);
    memcpy(cache->bytes, &h, sizeof h);
    cache->edited = true;
}

static void put_hash(stored_file *config, const char *key, uint64_t value)
{
    char *at = memmem(config->bytes, config->length, key, strlen(key));
    const size_t before = strlen(key) + 4; /* the key's quote, a colon, a space and another quote */

    if (at && (size_t)(config->bytes + config->length - at) > before + KITH__SUM_DIGITS)
        kith__checksum_print(at + before, value);
    config->edited = true;
}

static void forge_sum(stored_file *f)
{
    char *digits = kith__checksum_digits(f->bytes, f->length);

    if (!digits)
        return;
    memset(digits, '0', KITH__SUM_DIGITS);
    kith__checksum_print(digits, kith__checksum_of(f->bytes, f->length));
}

/* The hashes of the graph in the folder as it is now. */
static void forge_graph_hashes(stored_file *config, const char *path, uint64_t *data_hash)
{
    char inner[256];
    kith_graph *graph = NULL;

    snprintf(inner, sizeof inner, "%s/graph", path);
    if (kith_graph_open(&graph, inner, &(kith_open_options){.threads = 1}, NULL) != KITH_OK)
        return;
    *data_hash = kith_graph_hash(graph);
    put_hash(config, "labels_hash", kith__labels_hash(graph));
    kith_graph_free(graph);
}

static uint64_t key_of(stored_file *config, const char *path, uint64_t data_hash)
{
    kith__config read;
    char inner[256];

    forge_sum(config);
    write_file(scratch_path("config.json"), config->bytes, config->length);
    snprintf(inner, sizeof inner, "%s/graph", path);
    return kith__config_load(&read, scratch_folder_kept(), KITH__TO_RESUME, NULL) == KITH_OK
               ? kith__cache_key(inner, &read.settings, data_hash)
               : 0;
}

/* Fix the checksums that the edits broke; the edited files are already in the folder. */
static void forge(stored_folder *files, const char *path)
{
    stored_file *config = folder_find(files, "config.json"),
                *cache = folder_find(files, "cache.bin");
    uint64_t data_hash = 0, derived = 0;

    if (!config->gone) {
        forge_graph_hashes(config, path, &data_hash);
        put_hash(config, "data_hash", data_hash);
        uint64_t key = key_of(config, path, data_hash);
        if (cache->edited)
            forge_cache(cache, key, &data_hash, &derived);
        put_hash(config, "data_hash", data_hash);
        if (derived)
            put_hash(config, "derived_hash", derived);
        cache->edited = true;
    }
    for (size_t i = 0; i < files->count; i++)
        if (files->at[i].edited && !files->at[i].gone && files->at[i].name != cache->name)
            forge_sum(&files->at[i]);
}

/* ---- one input ---- */

typedef struct {
    int kind;
    bool seal;
    stored_folder files;
} edited_run;

static void parse(edited_run *run, char *text)
{
    size_t edits = 0;

    *run = (edited_run){0};
    for (char *line; (line = strsep(&text, "\n"));) {
        if (strncmp(line, "run ", 4) == 0 && run->files.count == 0)
            for (int kind = 0; kind < KINDS; kind++)
                run->kind = strcmp(line + 4, kinds[kind].name) == 0 ? kind : run->kind;
        else if (strcmp(line, "seal") == 0)
            run->seal = true;
        else if (edits++ < MOST_EDITS) {
            if (run->files.count == 0)
                folder_copy(&run->files, &base[run->kind].files);
            edit_apply(&run->files, line);
        }
    }
    if (run->files.count == 0)
        folder_copy(&run->files, &base[run->kind].files);
}

static int stop_soon(void *context, const kith_progress *progress)
{
    (void)progress;
    return ++*(int *)context > 2;
}

/* Resuming reads the checkpoint and the history. Edited settings could ask for any amount of work,
 * so those are not tried. */
static void resume(const edited_run *run, const char *path)
{
    static const char *const read[] = {"checkpoint.safetensors", "history.jsonl", "fusion.json",
                                       "calibration.json", "classifier.json", "rules.safetensors"};
    stored_folder *files = (stored_folder *)&run->files;
    bool wanted = false;
    int calls = 0;

    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        stored_file *f = folder_find(files, read[i]);
        wanted |= f && f->edited;
    }
    for (size_t i = 0; i < files->count; i++)
        if (strncmp(files->at[i].name, "graph/", 6) == 0 && files->at[i].edited)
            wanted = false;
    if (!wanted)
        return;
    kith_train_resume(NULL, path, &(kith_train_options){.threads = 1, .progress = stop_soon,
                                                        .context = &calls}, NULL);
    base[run->kind].rewrite = true;
}

static void restore(int kind)
{
    stored_folder *files = &base[kind].files;
    char full[256];

    folder_write(files, base[kind].path, base[kind].rewrite);
    set_times(base[kind].path);
    base[kind].rewrite = false;
    snprintf(full, sizeof full, "%s/lock", base[kind].path);
    unlink(full);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    kith_error error = {0};
    edited_run run;
    uint64_t found = 0;

    make_runs();
    require(text != NULL, "there is memory for the input");
    memcpy(text, data, size);
    text[size] = 0;
    parse(&run, text);
    const char *path = base[run.kind].path;
    folder_write(&run.files, path, false);
    set_times(path);
    if (run.seal) {
        forge(&run.files, path);
        folder_write(&run.files, path, false);
        set_times(path);
    }
    if (answer(&found, path, &error) != KITH_OK)
        require(error.message[0] != 0, "a refusal says why");
    else if (!run.seal && found != 0)
        require(found == base[run.kind].answers, "damage is noticed or changes nothing");
    resume(&run, path);
    for (size_t i = 0; i < run.files.count; i++)
        base[run.kind].files.at[i].edited = run.files.at[i].edited;
    folder_find(&base[run.kind].files, "cache.bin")->edited = true; /* it may have been rewritten */
    restore(run.kind);
    folder_release(&run.files);
    free(text);
    return 0;
}

/* ---- mutating lists of edits ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

static size_t add_line(char *text, size_t length, size_t most, const char *line)
{
    size_t more = strlen(line) + 1;

    if (length + more > most)
        return length;
    memcpy(text + length, line, more - 1);
    text[length + more - 1] = '\n';
    return length + more;
}

static size_t drop_line(char *text, size_t length, size_t which)
{
    char *from = text, *end = text + length;

    while (which-- > 0 && from < end) {
        char *next = memchr(from, '\n', (size_t)(end - from));
        from = next ? next + 1 : text;
    }
    char *to = memchr(from, '\n', (size_t)(end - from));
    to = to ? to + 1 : end;
    memmove(from, to, (size_t)(end - to));
    return length - (size_t)(to - from);
}

/* Change a random digit. */
static void change_digit(char *text, size_t length, uint64_t *random)
{
    size_t at = draw(random) % (length + 1);

    while (at < length && !(text[at] >= '0' && text[at] <= '9'))
        at++;
    if (at < length)
        text[at] = "0123456789"[draw(random) % 10];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    char *text = (char *)data, line[256];
    int kind = (int)(draw(&random) % KINDS);

    make_runs();
    if (size > 0 && text[size - 1] != '\n')
        size = add_line(text, size, most, "");
    switch (draw(&random) % 10) {
    case 0:
        return drop_line(text, size, draw(&random) % 8);
    case 1:
    case 2:
        change_digit(text, size, &random);
        return size;
    case 3: /* another run, sealed or not */
        size = 0;
        snprintf(line, sizeof line, "run %s", kinds[kind].name);
        size = add_line(text, size, most, line);
        if (draw(&random) % 3)
            size = add_line(text, size, most, "seal");
    }
    for (int i = 0; i < KINDS; i++)
        if (size > 5 && memmem(text, size, kinds[i].name, strlen(kinds[i].name)) == text + 4)
            kind = i;
    edit_draw(line, sizeof line, &base[kind].files, &random);
    return add_line(text, size, most, line);
}
