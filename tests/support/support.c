#include <dirent.h>
#include <ftw.h>
#include <math.h>
#include <zlib.h>
#include <zstd.h>

#include "core/checksum.h"
#include "core/mem.h"
#include "support.h"

/* ---- files ---- */

/* In place of the C library's: hundreds of small runs need not wait for the disk. What is on the
 * disk when a run is killed is tried with the program itself. */
int fsync(int file)
{
    (void)file;
    return 0;
}

static char root[64];
static pid_t owner;

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_all(void)
{
    if (getpid() == owner)
        nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *keep(const char *path)
{
    static struct kept {
        struct kept *next;
        char path[];
    } *all;
    struct kept *k = malloc(sizeof *k + strlen(path) + 1);

    assert_non_null(k);
    strcpy(k->path, path);
    k->next = all;
    all = k;
    return k->path;
}

const char *new_folder(void)
{
    static unsigned number;

    if (!root[0]) {
        const char *folder = getenv("TMPDIR");
        snprintf(root, sizeof root, "%s/kith-test-XXXXXX", folder ? folder : "/tmp");
        assert_non_null(mkdtemp(root));
        chmod(root, 0755);
        owner = getpid();
        atexit(remove_all);
    }
    const char *path = keep(format("%s/%u", root, number++));
    assert_int_equal(mkdir(path, 0755), 0);
    return path;
}

const char *format(const char *pattern, ...)
{
    static char buffers[8][4096];
    static unsigned turn;
    char *out = buffers[turn++ % 8];
    va_list arguments;

    va_start(arguments, pattern);
    vsnprintf(out, sizeof buffers[0], pattern, arguments);
    va_end(arguments);
    return out;
}

const char *put_bytes(const char *folder, const char *name, const void *bytes, size_t length)
{
    const char *path = keep(format("%s/%s", folder, name));
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, length, out), length);
    assert_int_equal(fclose(out), 0);
    return path;
}

const char *put(const char *folder, const char *name, const char *text)
{
    return put_bytes(folder, name, text, strlen(text));
}

static void append_gzip(const char *path, const char *member)
{
    gzFile out = gzopen(path, "ab");

    assert_non_null(out);
    assert_int_equal(gzwrite(out, member, (unsigned)strlen(member)), strlen(member));
    assert_int_equal(gzclose(out), Z_OK);
}

const char *put_gzip(const char *folder, const char *name, const char *text, const char *more)
{
    const char *path = keep(format("%s/%s", folder, name));

    unlink(path);
    append_gzip(path, text);
    if (more)
        append_gzip(path, more);
    return path;
}

const char *put_zstd(const char *folder, const char *name, const char *text, const char *more)
{
    size_t room = ZSTD_compressBound(strlen(text)) + ZSTD_compressBound(more ? strlen(more) : 0);
    char *packed = malloc(room);
    size_t length = ZSTD_compress(packed, room, text, strlen(text), 1);

    assert_false(ZSTD_isError(length));
    if (more) {
        size_t second = ZSTD_compress(packed + length, room - length, more, strlen(more), 1);
        assert_false(ZSTD_isError(second));
        length += second;
    }
    const char *path = put_bytes(folder, name, packed, length);
    free(packed);
    return path;
}

const char *file(const char *name, const char *text)
{
    return put(new_folder(), name, text);
}

char *contents(const char *path, size_t *length)
{
    FILE *in = fopen(path, "r");
    struct stat info;

    if (!in || fstat(fileno(in), &info) != 0)
        fail_msg("%s: found no such file", path);
    char *bytes = malloc((size_t)info.st_size + 1);
    *length = fread(bytes, 1, (size_t)info.st_size, in);
    bytes[*length] = '\0';
    fclose(in);
    return bytes;
}

bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void reseal(const char *folder, const char *name)
{
    size_t length;
    char *bytes = contents(format("%s/%s", folder, name), &length);
    char *digits = kith__checksum_digits(bytes, length);

    if (!digits)
        fail_msg("%s/%s: found no checksum", folder, name);
    memset(digits, '0', KITH__SUM_DIGITS);
    kith__checksum_print(digits, kith__checksum_of(bytes, length));
    put_bytes(folder, name, bytes, length);
    free(bytes);
}

bool same_bytes(const char *path, const char *other)
{
    size_t x, y;
    char *first = contents(path, &x), *second = contents(other, &y);
    bool same = x == y && memcmp(first, second, x) == 0;

    free(first);
    free(second);
    return same;
}

size_t entries(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;
    struct dirent *entry;

    assert_non_null(directory);
    while ((entry = readdir(directory)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

const char *shared_data(const char *name)
{
    const char *shared = getenv("KITH_SHARED"), *checkout = getenv("KITH_ROOT");
    const char *path = shared ? format("%s/data/%s", shared, name)
                              : format("%s/../shared/data/%s", checkout ? checkout : ".", name);

    if (exists(path))
        return keep(path);
    printf("# %s is not there, so nothing is checked against it\n", path);
    return NULL;
}

/* ---- text that grows ---- */

void add(draft *t, const char *pattern, ...)
{
    char line[16384];
    va_list arguments;

    va_start(arguments, pattern);
    size_t length = (size_t)vsnprintf(line, sizeof line, pattern, arguments);
    va_end(arguments);
    assert_true(length < sizeof line);
    if (t->length + length + 1 > t->capacity) {
        t->capacity = 2 * (t->length + length + 1);
        t->at = realloc(t->at, t->capacity);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->length, line, length + 1);
    t->length += length;
}

void draft_release(draft *t)
{
    free(t->at);
    memset(t, 0, sizeof *t);
}

/* ---- assertions ---- */

void check_contains(const char *message, const char *split, const char *file, int line)
{
    if (strstr(message, split))
        return;
    print_error("found:    %s\nexpected: ...%s...\n", message, split);
    _fail(file, line);
}

/* ---- failing allocations ---- */

void fail_each_allocation(kith_status (*call)(void *context, kith_error *error), void *context)
{
    bool failed = true;
    size_t failures = 0;

    for (size_t n = 1; failed; n++) {
        kith_error error = {KITH_OK, ""};
        kith__mem_fail_at(n);
        kith_status status = call(context, &error);
        failed = kith__mem_failed();
        kith__mem_fail_at(0);
        failures += status != KITH_OK;
        if (!failed && failures == 0)
            fail_msg("found success, expected an allocation to fail");
        if (status == KITH_OK)
            continue;
        if (status != KITH_ERR_MEMORY)
            fail_msg("allocation %zu: found status %d (%s), expected %d", n, status, error.message,
                     KITH_ERR_MEMORY);
        assert_string_equal(error.message, "out of memory");
        assert_true(failed);
        if (n > 100000)
            fail_msg("found no end after %zu allocations", n);
    }
}

/* ---- random numbers ---- */

unsigned below(kith__rng *rng, unsigned bound)
{
    return (unsigned)kith__rng_below(rng, bound);
}

float uniform(kith__rng *rng, float low, float high)
{
    return low + (high - low) * (float)kith__rng_unit(rng);
}

/* ---- graphs ---- */

kith_graph *opened_with(const char *path, unsigned threads, bool skip_bad)
{
    kith_open_options options = {.skip_bad = skip_bad, .threads = threads};
    kith_error error = {KITH_OK, ""};
    kith_graph *graph = NULL;

    if (kith_graph_open(&graph, path, &options, &error) != KITH_OK)
        fail_msg("%s: found the error \"%s\", expected a graph", path, error.message);
    return graph;
}

static bool equal_rank(const kith_rank *a, const kith_rank *b)
{
    bool equal = memcmp(&a->fact, &b->fact, sizeof a->fact) == 0 &&
                 a->subject_hidden == b->subject_hidden && a->optimistic == b->optimistic &&
                 a->pessimistic == b->pessimistic && a->realistic == b->realistic &&
                 a->candidates == b->candidates && a->kind == b->kind && a->facts == b->facts &&
                 a->correct == b->correct && a->answer_count == b->answer_count;

    for (size_t i = 0; equal && i < a->answer_count; i++)
        equal = a->answers[i]->correct == b->answers[i]->correct &&
                a->answers[i]->probability_if_one == b->answers[i]->probability_if_one;
    return equal;
}

bool equal_ranks(const kith_eval *a, const kith_eval *b)
{
    bool equal = a->rank_count == b->rank_count;

    for (size_t i = 0; equal && i < a->rank_count; i++)
        equal = equal_rank(a->ranks[i], b->ranks[i]);
    return equal;
}

kith_stats stats_of(const kith_graph *graph)
{
    static kith_stats *stats; /* lists of what is returned lie in it */

    kith_stats_free(stats);
    stats = NULL;
    assert_int_equal(kith_graph_stats(&stats, graph, NULL, NULL), KITH_OK);
    return *stats;
}

kith_graph *opened(const char *path)
{
    return opened_with(path, 0, false);
}

static void check_refused(const char *path, unsigned threads, kith_status status, va_list splits)
{
    kith_open_options options = {.threads = threads};
    kith_error error = {KITH_OK, ""};
    kith_graph *graph = NULL;
    kith_status found = kith_graph_open(&graph, path, &options, &error);
    const char *split;

    if (found == KITH_OK) {
        kith_graph_free(graph);
        fail_msg("%s: found a graph, expected an error", path);
    }
    assert_null(graph);
    if (found != status)
        fail_msg("%s: found status %d (%s), expected %d", path, found, error.message, status);
    assert_int_equal(error.status, found);
    while ((split = va_arg(splits, const char *)))
        assert_contains(error.message, split);
}

void refused(const char *path, kith_status status, ...)
{
    va_list splits;
    va_start(splits, status);
    check_refused(path, 0, status, splits);
    va_end(splits);
}

void refused_with(const char *path, unsigned threads, kith_status status, ...)
{
    va_list splits;
    va_start(splits, status);
    check_refused(path, threads, status, splits);
    va_end(splits);
}

const char *fact(const kith_graph *graph, kith_split split, size_t i)
{
    kith_facts f = kith_graph_facts(graph, split);

    if (i >= f.count)
        fail_msg("found %zu facts, expected more than %zu", f.count, i);
    return format("%s %s %s%s", kith_graph_entity_name(graph, f.at[i].subject),
                  kith_graph_relation_name(graph, f.at[i].relation),
                  kith_graph_entity_name(graph, f.at[i].object),
                  !f.truth ? "" : f.truth[i] ? " true" : " false");
}

const char *facts(const kith_graph *graph, kith_split split)
{
    static char all[1 << 16];
    size_t count = kith_graph_facts(graph, split).count, length = 0;

    all[0] = '\0';
    for (size_t i = 0; i < count && length < sizeof all - 1; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s;", fact(graph, split, i));
    return all;
}

static void check_same_text(const char *a, const char *b, const char *what, size_t i,
                            const char *file, int line)
{
    if ((!a && !b) || (a && b && strcmp(a, b) == 0))
        return;
    print_error("%s %zu: found %s, expected %s\n", what, i, a ? a : "none", b ? b : "none");
    _fail(file, line);
}

static void check_same_number(size_t a, size_t b, const char *what, const char *file, int line)
{
    if (a == b)
        return;
    print_error("%s: found %zu, expected %zu\n", what, a, b);
    _fail(file, line);
}

static void check_same_neighborhoods(const kith_graph *a, const kith_graph *b, const char *file,
                                     int line)
{
    kith_neighborhoods x = kith_graph_neighborhoods(a), y = kith_graph_neighborhoods(b);
    uint32_t n = kith_graph_entity_count(a);

    for (uint32_t e = 0; e <= n; e++)
        check_same_number(x.offset[e], y.offset[e], "offset", file, line);
    for (uint64_t i = 0; i < x.offset[n]; i++) {
        check_same_number(x.at[i].relation, y.at[i].relation, "a neighbour's relation", file, line);
        check_same_number(x.at[i].entity, y.at[i].entity, "a neighbour", file, line);
    }
}

/* ---- models ---- */

void set(kith_settings *settings, const char *name, const char *value)
{
    kith_error error;

    if (kith_settings_set(settings, name, value, &error) != KITH_OK)
        fail_msg("%s", error.message);
}

kith_model *model_on(const kith_graph *graph, const kith_settings *settings, unsigned threads)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_new(&model, graph, settings, &(kith_work_options){.threads = threads}, &error) !=
        KITH_OK)
        fail_msg("%s", error.message);
    return model;
}

kith_model *model_with(const kith_graph *graph, const kith_settings *settings)
{
    return model_on(graph, settings, 1);
}

kith_model *opened_model(const char *folder)
{
    kith_model *model = NULL;
    kith_error error;

    if (kith_model_open(&model, folder, &(kith_work_options){.threads = 1}, &error) != KITH_OK)
        fail_msg("found the error \"%s\", expected a model", error.message);
    return model;
}

float score_of(kith_model *model, kith_triple fact)
{
    float value = NAN;
    kith_error error;

    if (kith_model_score(&value, model, fact, &error) != KITH_OK)
        fail_msg("%s", error.message);
    return value;
}

/* ---- runs ---- */

const char *in(const char *folder, const char *name)
{
    return keep(format("%s/%s", folder, name));
}

const char *new_run(void)
{
    return in(new_folder(), "run");
}

const char *copy_run(const char *folder)
{
    const char *copy = new_run();

    if (system(format("cp -r '%s' '%s'", folder, copy)) != 0)
        fail_msg("%s: cannot be copied", folder);
    return copy;
}

/* ---- comparing graphs ---- */

void check_same_graph(const kith_graph *a, const kith_graph *b, const char *file, int line)
{
    check_same_number(kith_graph_entity_count(a), kith_graph_entity_count(b), "entities", file,
                      line);
    check_same_number(kith_graph_relation_count(a), kith_graph_relation_count(b), "relations", file,
                      line);
    check_same_number(kith_graph_seen_entity_count(a), kith_graph_seen_entity_count(b),
                      "seen entities", file, line);
    check_same_number(kith_graph_seen_relation_count(a), kith_graph_seen_relation_count(b),
                      "seen relations", file, line);
    for (uint32_t e = 0; e < kith_graph_entity_count(a); e++) {
        check_same_text(kith_graph_entity_name(a, e), kith_graph_entity_name(b, e), "entity", e,
                        file, line);
        check_same_text(kith_graph_entity_label(a, e), kith_graph_entity_label(b, e), "label", e,
                        file, line);
    }
    for (uint32_t r = 0; r < kith_graph_relation_count(a); r++)
        check_same_text(kith_graph_relation_name(a, r), kith_graph_relation_name(b, r), "relation",
                        r, file, line);
    for (int split = 0; split < KITH_SPLITS; split++) {
        kith_facts x = kith_graph_facts(a, split), y = kith_graph_facts(b, split);
        check_same_number(x.count, y.count, "facts", file, line);
        check_same_number(x.truth != NULL, y.truth != NULL, "labels", file, line);
        for (size_t i = 0; i < x.count; i++)
            if (memcmp(&x.at[i], &y.at[i], sizeof x.at[i]) != 0 ||
                (x.truth && x.truth[i] != y.truth[i]))
                check_same_text(fact(a, split, i), fact(b, split, i), "fact", i, file, line);
    }
    check_same_neighborhoods(a, b, file, line);
}

/* ---- random graphs ---- */

/* A few entities are met far more often than others, as in real graphs. */
static unsigned some_entity(kith__rng *rng, unsigned entities)
{
    return below(rng, below(rng, 3) ? entities : 1 + entities / 4);
}

static void add_random(draft *t, kith__rng *rng, const random_shape *s, unsigned relations,
                       const char *label)
{
    add(t, s->maps ? "%u\t%u\t%u%s\n" : "e%u\tr%u\te%u%s\n", some_entity(rng, s->entities),
        below(rng, relations), some_entity(rng, s->entities), label);
}

static const char *some_label(kith__rng *rng, bool labels)
{
    static const char *const kinds[] = {"\t1", "\t1", "\t0", "\t-1"};
    return labels ? kinds[below(rng, 4)] : "";
}

/* Some lines of a text again, with a label. */
static void repeat_lines(draft *t, kith__rng *rng, const draft *from, bool labels)
{
    for (char *line = from->at; line && *line; line = strchr(line, '\n') + 1)
        if (below(rng, 8) == 0)
            add(t, "%.*s%s\n", (int)(strchr(line, '\n') - line), line, some_label(rng, labels));
}

static void put_map(const char *folder, const char *name, char letter, unsigned count,
                    kith__rng *rng)
{
    draft t = {0};
    unsigned turn = below(rng, count);

    for (unsigned i = 0; i < count; i++) {
        unsigned id = (i + turn) % count;
        add(&t, "%c%u\t%u\n", letter, id * 7 % 1009, id);
    }
    put(folder, name, t.at);
    draft_release(&t);
}

const char *random_folder(kith__rng *rng, const random_shape *s)
{
    static const char *const names[KITH_SPLITS] = {"train", "dev", "test", "aux"};
    const unsigned counts[KITH_SPLITS] = {s->train, s->dev, s->test, s->aux};
    const char *folder = new_folder();
    draft train = {0};

    for (int split = 0; split < KITH_SPLITS; split++) {
        bool labels = s->labels && (split == KITH_DEV || split == KITH_TEST);
        draft t = {0};
        /* The last relation is not in train. */
        for (unsigned i = 0; i < counts[split]; i++)
            add_random(&t, rng, s, s->relations - (split == KITH_TRAIN && s->relations > 1),
                       some_label(rng, labels));
        if (s->overlap && counts[split] > 0 && split != KITH_TRAIN)
            repeat_lines(&t, rng, &train, labels);
        if (t.length > 0)
            put(folder, names[split], t.at);
        if (split == KITH_TRAIN)
            train = t;
        else
            draft_release(&t);
    }
    draft_release(&train);
    if (s->maps) {
        put_map(folder, "entity2id.txt", 'm', s->entities, rng);
        put_map(folder, "relation2id.txt", 'q', s->relations, rng);
    }
    return folder;
}

const char *warning_of(const kith_model *model, size_t index)
{
    const char *warning;

    for (size_t i = 0; (warning = kith_model_warning(model, i)); i++)
        if (!strstr(warning, "graph is small") && index-- == 0)
            break;
    return warning;
}
