#include "graph/prefixes.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"

enum { LONGEST = 1000, MOST = 10000 };

static const struct {
    const char *name, *iri;
} known[] = {
    {"rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
    {"rdfs", "http://www.w3.org/2000/01/rdf-schema#"},
    {"owl", "http://www.w3.org/2002/07/owl#"},
    {"xsd", "http://www.w3.org/2001/XMLSchema#"},
    {"skos", "http://www.w3.org/2004/02/skos/core#"},
    {"dc", "http://purl.org/dc/elements/1.1/"},
    {"dcterms", "http://purl.org/dc/terms/"},
    {"foaf", "http://xmlns.com/foaf/0.1/"},
    {"schema", "http://schema.org/"},
    {"prov", "http://www.w3.org/ns/prov#"},
    {"wd", "http://www.wikidata.org/entity/"},
    {"wdt", "http://www.wikidata.org/prop/direct/"},
    {"dbr", "http://dbpedia.org/resource/"},
    {"dbo", "http://dbpedia.org/ontology/"},
    {"dbp", "http://dbpedia.org/property/"},
    {"yago", "http://yago-knowledge.org/resource/"},
    {"obo", "http://purl.obolibrary.org/obo/"},
};
enum { KNOWN = sizeof known / sizeof *known };

void kith__prefixes_release(kith__prefixes *prefixes)
{
    kith__free(prefixes->at);
    kith__free(prefixes->bytes);
    memset(prefixes, 0, sizeof *prefixes);
}

static const char *name_at(const kith__prefixes *prefixes, size_t i)
{
    return prefixes->bytes + prefixes->at[i].name;
}

static const char *iri_at(const kith__prefixes *prefixes, size_t i)
{
    return prefixes->bytes + prefixes->at[i].iri;
}

static bool declares(const kith__prefixes *prefixes, const char *name, size_t length)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (strlen(name_at(prefixes, i)) == length &&
            memcmp(name_at(prefixes, i), name, length) == 0)
            return true;
    return false;
}

static bool is_writable(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] <= ' ')
            return false;
    return length <= LONGEST && kith__utf8_valid(text, length);
}

int kith__prefixes_add(kith__prefixes *prefixes, const char *name, size_t name_length,
                       const char *iri, size_t length)
{
    size_t need = prefixes->used + name_length + length + 2;

    if (!is_writable(name, name_length) || !is_writable(iri, length) || length == 0 ||
        prefixes->count == MOST || declares(prefixes, name, name_length))
        return 0;
    if (kith__reserve(&prefixes->at, &prefixes->capacity, prefixes->count + 1,
                      sizeof *prefixes->at) ||
        kith__reserve(&prefixes->bytes, &prefixes->byte_capacity, need, 1))
        return -1;
    char *to = prefixes->bytes + prefixes->used;
    if (name_length > 0)
        memcpy(to, name, name_length);
    to[name_length] = '\0';
    memcpy(to + name_length + 1, iri, length);
    to[name_length + 1 + length] = '\0';
    prefixes->at[prefixes->count++] =
        (kith__prefix){prefixes->used, prefixes->used + name_length + 1};
    prefixes->used = need;
    return 0;
}

int kith__prefixes_copy(kith__prefixes *to, const kith__prefixes *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const char *name = name_at(from, i), *iri = iri_at(from, i);
        if (kith__prefixes_add(to, name, strlen(name), iri, strlen(iri)))
            return -1;
    }
    return 0;
}

/* ---- short names ---- */

/* What may follow a prefix, so that a short name has no space and reads back unchanged. */
static bool is_local(const char *text)
{
    if (!*text)
        return false;
    for (; *text; text++)
        if (!((*text >= '0' && *text <= '9') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= 'a' && *text <= 'z') || strchr("_-.", *text) ||
              (unsigned char)*text > 0x7f))
            return false;
    return true;
}

typedef struct {
    const char *name;
    size_t length; /* of the IRI; 0: no prefix matches */
} fit;

static void try_prefix(fit *best, const char *name, const char *prefix, const char *iri)
{
    size_t length = strlen(prefix);

    if (length > best->length && strncmp(iri, prefix, length) == 0 && is_local(iri + length))
        *best = (fit){name, length};
}

size_t kith__prefixes_shorten(char *text, size_t size, const kith__prefixes *prefixes,
                              const char *iri)
{
    fit best = {"", 0};

    if (!strchr(iri, ':'))
        return 0;
    for (size_t i = 0; i < prefixes->count; i++)
        try_prefix(&best, name_at(prefixes, i), iri_at(prefixes, i), iri);
    for (size_t i = 0; i < KNOWN; i++)
        if (!declares(prefixes, known[i].name, strlen(known[i].name)))
            try_prefix(&best, known[i].name, known[i].iri, iri);
    if (best.length == 0 || strlen(best.name) + strlen(iri + best.length) + 2 > size)
        return 0;
    return (size_t)snprintf(text, size, "%s:%s", best.name, iri + best.length);
}

static const char *iri_of(const kith__prefixes *prefixes, const char *name, size_t length)
{
    for (size_t i = 0; i < prefixes->count; i++)
        if (strlen(name_at(prefixes, i)) == length &&
            memcmp(name_at(prefixes, i), name, length) == 0)
            return iri_at(prefixes, i);
    for (size_t i = 0; i < KNOWN; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
            return known[i].iri;
    return NULL;
}

size_t kith__prefixes_expand(char *iri, size_t size, const kith__prefixes *prefixes,
                             const char *text)
{
    const char *colon = strchr(text, ':');
    const char *whole = colon ? iri_of(prefixes, text, (size_t)(colon - text)) : NULL;

    if (!whole || strlen(whole) + strlen(colon + 1) + 1 > size)
        return 0;
    return (size_t)snprintf(iri, size, "%s%s", whole, colon + 1);
}
