/* WordNet's own database: data.noun and the other files, in the format of wndb(5WN). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "graph/read/fields.h"
#include "graph/read/input.h"
#include "graph/read/readers.h"
#include "graph/graph.h"

enum { PARTS_OF_SPEECH = 4, NAME_LIMIT = 512 };

static const struct {
    const char *suffix;
    char letter; /* as in pointers, where satellites (s) are adjectives (a) */
} speech[PARTS_OF_SPEECH] = {{"noun", 'n'}, {"verb", 'v'}, {"adj", 'a'}, {"adv", 'r'}};

static const struct {
    const char *symbol, *name;
} pointers[] = {
    {"!", "antonym"},         {"@", "hypernym"},
    {"@i", "instance_hypernym"}, {"~", "hyponym"},
    {"~i", "instance_hyponym"},  {"#m", "member_holonym"},
    {"#s", "substance_holonym"}, {"#p", "part_holonym"},
    {"%m", "member_meronym"},    {"%s", "substance_meronym"},
    {"%p", "part_meronym"},      {"=", "attribute"},
    {"+", "derivationally_related_form"}, {";c", "domain_topic"},
    {"-c", "member_of_domain_topic"},     {";r", "domain_region"},
    {"-r", "member_of_domain_region"},    {";u", "domain_usage"},
    {"-u", "member_of_domain_usage"},     {"*", "entailment"},
    {">", "cause"},           {"^", "also_see"},
    {"$", "verb_group"},      {"&", "similar_to"},
    {"<", "participle_of"},   {"\\", "pertainym"},
};

/* Maps keys such as "n02084071" to entities, and "dog n02084071" to sense numbers. */
typedef struct {
    kith__loader *loader;
    kith__names synsets; /* offset and part of speech, in the order of entity ids */
    kith__names senses;
    uint32_t *sense_number;
    size_t sense_capacity;
} wordnet;

typedef kith_status (*line_reader)(wordnet *w, int split, const char *path, size_t number,
                                   kith__field line);

static uint32_t add(kith__names *names, const char *name, size_t length)
{
    return kith__names_add(names, name, length, kith__names_hash(name, length));
}

static uint32_t find(const kith__names *names, const char *name, size_t length)
{
    return kith__names_find(names, name, length, kith__names_hash(name, length));
}

/* The next field of a line whose fields are separated by single spaces. */
static kith__field take(kith__field *rest)
{
    const char *end = rest->text + rest->length;
    const char *blank = memchr(rest->text, ' ', rest->length);
    const char *stop = blank ? blank : end;
    kith__field field = {rest->text, (size_t)(stop - rest->text)};

    rest->text = blank ? blank + 1 : end;
    rest->length = (size_t)(end - rest->text);
    return field;
}

static bool take_number(uint64_t *value, kith__field *rest, int base)
{
    kith__field field = take(rest);

    if (base == 10)
        return kith__parse_number(value, field);
    *value = 0;
    for (size_t i = 0; i < field.length; i++) {
        if (!isxdigit((unsigned char)field.text[i]) || i > 7)
            return false;
        int digit = tolower((unsigned char)field.text[i]);
        *value = *value * 16 + (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return field.length > 0;
}

static kith_status bad_entry(wordnet *w, const char *path, size_t number, kith__field line,
                             const char *expected)
{
    char quoted[KITH__QUOTED];
    return kith__bad_line(w->loader, path, number, "found %s, expected %s",
                          kith__quote(quoted, line.text, line.length), expected);
}

static bool is_offset(kith__field field)
{
    uint64_t value;
    return field.length == 8 && kith__parse_number(&value, field);
}

/* "n02084071" */
static void synset_key(char key[10], char letter, kith__field offset)
{
    key[0] = letter == 's' ? 'a' : letter;
    memcpy(key + 1, offset.text, 8);
    key[9] = '\0';
}

/* ---- index.*: which sense of a word a synset is ---- */

static bool sense_key(char key[NAME_LIMIT], size_t *length, kith__field word, const char *synset)
{
    int n = snprintf(key, NAME_LIMIT, "%.*s %s", (int)word.length, word.text, synset);
    *length = (size_t)n;
    return n > 0 && n < NAME_LIMIT;
}

static kith_status read_index_line(wordnet *w, int split, const char *path, size_t number,
                                   kith__field line)
{
    static const char expected[] = "an index entry: word, part of speech, counts and synsets";
    kith__field rest = line, word = take(&rest);
    uint64_t synsets, symbols, skipped;

    if (word.length > 200)
        return bad_entry(w, path, number, line, expected);
    take(&rest); /* part of speech */
    if (!take_number(&synsets, &rest, 10) || !take_number(&symbols, &rest, 10))
        return bad_entry(w, path, number, line, expected);
    for (uint64_t i = 0; i < symbols && rest.length > 0; i++)
        take(&rest);
    if (!take_number(&skipped, &rest, 10) || !take_number(&skipped, &rest, 10))
        return bad_entry(w, path, number, line, expected);
    for (uint64_t sense = 1; sense <= synsets; sense++) {
        char synset[10], key[NAME_LIMIT];
        size_t length;
        kith__field offset = take(&rest);
        if (!is_offset(offset))
            return bad_entry(w, path, number, line, expected);
        synset_key(synset, speech[split].letter, offset);
        if (!sense_key(key, &length, word, synset))
            return bad_entry(w, path, number, line, expected);
        uint32_t id = add(&w->senses, key, length);
        if (id == KITH__NO_ID || kith__reserve(&w->sense_number, &w->sense_capacity,
                                               (size_t)id + 1, sizeof *w->sense_number))
            return kith__no_memory(w->loader->error);
        w->sense_number[id] = (uint32_t)sense;
    }
    return KITH_OK;
}

/* ---- data.*, first pass: synsets ---- */

/* The first word in lower case, without the marker that adjectives may carry: "galore(ip)". */
static bool plain_word(char out[NAME_LIMIT], kith__field word)
{
    const char *marker = memchr(word.text, '(', word.length);
    size_t length = marker ? (size_t)(marker - word.text) : word.length;

    if (length == 0 || length > 200)
        return false;
    for (size_t i = 0; i < length; i++)
        out[i] = (char)tolower((unsigned char)word.text[i]);
    out[length] = '\0';
    return true;
}

/* The sense number from the index, or the first free one if the index lacks it. */
static kith_status name_synset(wordnet *w, const char *word, char type, const char *synset)
{
    kith__names *entities = &w->loader->graph->entities;
    char key[NAME_LIMIT], name[NAME_LIMIT];
    size_t length;
    uint32_t sense = 1, known = KITH__NO_ID, before = entities->count, id;

    if (sense_key(key, &length, (kith__field){word, strlen(word)}, synset))
        known = find(&w->senses, key, length);
    if (known != KITH__NO_ID)
        sense = w->sense_number[known];
    for (;; sense++) {
        int n = snprintf(name, sizeof name, "%s.%c.%02u", word, type, sense);
        id = add(entities, name, (size_t)n);
        if (id == KITH__NO_ID)
            return kith__no_memory(w->loader->error);
        if (id == before)
            return KITH_OK;
    }
}

static bool take_synset(kith__field *offset, char *type, char word[NAME_LIMIT], kith__field *rest)
{
    uint64_t words;

    *offset = take(rest);
    take(rest); /* lexicographer's file */
    kith__field kind = take(rest);
    if (!is_offset(*offset) || kind.length != 1 || !strchr("nvasr", kind.text[0]) ||
        !take_number(&words, rest, 16) || words == 0)
        return false;
    *type = kind.text[0];
    kith__field first = take(rest);
    take(rest);
    for (uint64_t i = 1; i < words && rest->length > 0; i++) {
        take(rest);
        take(rest);
    }
    return plain_word(word, first);
}

static kith_status read_synset(wordnet *w, int split, const char *path, size_t number,
                               kith__field line)
{
    kith__field rest = line, offset;
    char type, word[NAME_LIMIT], synset[10];

    if (!kith__utf8_valid(line.text, line.length) || !take_synset(&offset, &type, word, &rest))
        return bad_entry(w, path, number, line, "a synset: offset, file, type, words, pointers");
    synset_key(synset, speech[split].letter, offset);
    uint32_t before = w->synsets.count;
    uint32_t id = add(&w->synsets, synset, 9);
    if (id == KITH__NO_ID)
        return kith__no_memory(w->loader->error);
    if (id != before)
        return bad_entry(w, path, number, line, "each synset once");
    return name_synset(w, word, type, synset);
}

/* ---- data.*, second pass: pointers ---- */

static const char *pointer_name(kith__field symbol)
{
    for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++)
        if (strlen(pointers[i].symbol) == symbol.length &&
            memcmp(pointers[i].symbol, symbol.text, symbol.length) == 0)
            return pointers[i].name;
    return NULL;
}

static kith_status read_pointer(wordnet *w, uint32_t from, kith__field *rest, const char *path,
                                size_t number, kith__field line)
{
    kith__field symbol = take(rest), offset = take(rest), kind = take(rest);
    const char *name = pointer_name(symbol);
    char synset[10];

    take(rest); /* source and target words; the fact is about the synsets */
    if (!name)
        return bad_entry(w, path, number, symbol, "a pointer symbol of WordNet");
    if (!is_offset(offset) || kind.length != 1)
        return bad_entry(w, path, number, line, "a pointer: symbol, offset, part of speech");
    synset_key(synset, kind.text[0], offset);
    uint32_t to = find(&w->synsets, synset, 9);
    if (to == KITH__NO_ID)
        return bad_entry(w, path, number, offset, "the offset of a synset in the database");
    kith_graph *graph = w->loader->graph;
    uint32_t relation = add(&graph->relations, name, strlen(name));
    if (relation == KITH__NO_ID ||
        kith__facts_add(&graph->splits[KITH_TRAIN], (kith_triple){from, relation, to}))
        return kith__no_memory(w->loader->error);
    return KITH_OK;
}

static kith_status read_pointers(wordnet *w, int split, const char *path, size_t number,
                                 kith__field line)
{
    kith__field rest = line, offset;
    char type, word[NAME_LIMIT], synset[10];
    uint64_t count;
    kith_status status = KITH_OK;

    if (!take_synset(&offset, &type, word, &rest))
        return KITH_OK; /* counted in the first pass */
    synset_key(synset, speech[split].letter, offset);
    uint32_t from = find(&w->synsets, synset, 9);
    if (from == KITH__NO_ID)
        return KITH_OK; /* counted in the first pass */
    if (!take_number(&count, &rest, 10))
        return bad_entry(w, path, number, line, "the number of pointers");
    for (uint64_t i = 0; i < count && status == KITH_OK; i++) {
        if (rest.length == 0)
            return bad_entry(w, path, number, line, "as many pointers as the line says");
        status = read_pointer(w, from, &rest, path, number, line);
    }
    return status;
}

/* ---- files ---- */

static kith_status read_lines(wordnet *w, int split, const char *path, line_reader read)
{
    kith__input *input = NULL;
    kith__lines lines;
    size_t number = 0, length;
    char *block;
    kith_status status;

    memset(&lines, 0, sizeof lines);
    TRY(kith__input_open(&input, path, w->loader->watch, w->loader->error));
    kith__lines_init(&lines, input);
    for (;;) {
        TRY(kith__lines_next(&block, &length, &lines, w->loader->error));
        if (length == 0)
            break;
        const char *text = block + (number == 0 ? kith__skip_bom(block, length) : 0);
        const char *end = block + length;
        while (text < end) {
            kith__field line = kith__next_line(&text, end);
            number++;
            /* The licence at the top is indented. */
            if (line.length > 0 && line.text[0] != ' ')
                TRY(read(w, split, path, number, line));
        }
    }
cleanup:
    kith__lines_release(&lines);
    kith__input_close(input);
    return status;
}

static kith_status read_all(wordnet *w, const char *folder, const char *prefix, line_reader read)
{
    kith_status status = KITH_OK;

    for (int split = 0; split < PARTS_OF_SPEECH && status == KITH_OK; split++) {
        char name[16];
        snprintf(name, sizeof name, "%s.%s", prefix, speech[split].suffix);
        if (!kith__path_exists(folder, name))
            continue;
        char *path = kith__path_join(folder, name);
        status = path ? read_lines(w, split, path, read) : kith__no_memory(w->loader->error);
        kith__free(path);
    }
    return status;
}

static kith_status read_wordnet(kith__loader *loader, const char *path)
{
    wordnet *w = kith__calloc(1, sizeof *w);
    kith_status status = KITH_OK;

    if (!w)
        return kith__no_memory(loader->error);
    w->loader = loader;
    if (kith__names_init(&w->synsets) || kith__names_init(&w->senses))
        TRY(kith__no_memory(loader->error));
    TRY(read_all(w, path, "index", read_index_line));
    TRY(read_all(w, path, "data", read_synset));
    TRY(read_all(w, path, "data", read_pointers));
    if (loader->graph->splits[KITH_TRAIN].count == 0)
        TRY(kith__fail(loader->error, KITH_ERR_INPUT, "%s: holds no pointers between synsets",
                       path));
cleanup:
    kith__names_release(&w->synsets);
    kith__names_release(&w->senses);
    kith__free(w->sense_number);
    kith__free(w);
    return status;
}

static bool is_wordnet(const char *folder)
{
    static const char *const names[] = {"data.noun", "data.verb", "data.adj", "data.adv", NULL};

    return kith__path_any(folder, names);
}

const kith__reader kith__reader_wordnet = {.name = "WordNet database folder",
                                           .holds = "WordNet's data.noun",
                                           .is_folder = is_wordnet,
                                           .read_folder = read_wordnet};
