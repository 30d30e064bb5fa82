#include "graph/read/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "core/mem.h"

enum { BLOCK = 1 << 18, LINE_LIMIT = 1 << 26 };

typedef enum { PLAIN, GZIP, ZSTD } packing;

struct kith__input {
    int file;
    char *path;
    kith__watch *watch;
    packing packing;
    uint64_t size;    /* size of a plain regular file, else 0 */
    char *raw;        /* bytes as stored in the file */
    size_t raw_from, raw_to;
    bool raw_ended;
    char *peeked; /* content read ahead by kith__input_peek */
    size_t peeked_from, peeked_to;
    z_stream gzip;
    bool gzip_open, gzip_between; /* between: a member has ended, another may follow */
    ZSTD_DStream *zstd;
    size_t zstd_state; /* 0: at the end of a frame */
};

static kith_status system_error(kith_error *error, const char *path, const char *doing)
{
    return kith__fail(error, KITH_ERR_IO, "%s: cannot %s: %s", path, doing, strerror(errno));
}

static kith_status refill(kith__input *input, kith_error *error)
{
    if (input->raw_from < input->raw_to || input->raw_ended)
        return KITH_OK;
    ssize_t got;
    do
        got = read(input->file, input->raw, BLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return system_error(error, input->path, "read");
    input->raw_from = 0;
    input->raw_to = (size_t)got;
    input->raw_ended = got == 0;
    kith__watch_add(input->watch, input->raw_to);
    return kith__watch_status(input->watch, error);
}

static bool is_named(const kith__input *input, const char *ending)
{
    size_t length = strlen(input->path), n = strlen(ending);
    return length >= n && strcasecmp(input->path + length - n, ending) == 0;
}

/* A content frame, or a skippable one: pzstd writes those before the others. */
static bool is_zstd(const unsigned char *magic, size_t length)
{
    return length >= 4 &&
           (memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0 ||
            ((magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, "\x2a\x4d\x18", 3) == 0));
}

static kith_status not_packed(const kith__input *input, const char *expected, kith_error *error)
{
    char quoted[KITH__QUOTED];
    return kith__fail(
        error, KITH_ERR_INPUT,
        "%s: begins with %s, expected %s data (is the file truncated, or not compressed?)",
        input->path, kith__quote(quoted, input->raw, input->raw_to < 8 ? input->raw_to : 8),
        expected);
}

static kith_status start_packing(kith__input *input, kith_error *error)
{
    const unsigned char *magic = (const unsigned char *)input->raw;

    if (input->raw_to >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
        input->packing = GZIP;
        if (inflateInit2(&input->gzip, 15 + 16) != Z_OK)
            return kith__no_memory(error);
        input->gzip_open = true;
    } else if (is_zstd(magic, input->raw_to)) {
        input->packing = ZSTD;
        input->zstd = ZSTD_createDStream();
        if (!input->zstd)
            return kith__no_memory(error);
        input->zstd_state = 1;
    } else if (is_named(input, ".gz") || is_named(input, ".zst")) {
        return not_packed(input, is_named(input, ".gz") ? "gzip" : "zstd", error);
    }
    return KITH_OK;
}

static kith_status open_file(kith__input *input, kith_error *error)
{
    struct stat info;

    input->file = open(input->path, O_RDONLY | O_CLOEXEC);
    if (input->file < 0 || fstat(input->file, &info) != 0)
        return system_error(error, input->path, "open");
    if (S_ISDIR(info.st_mode))
        return kith__fail(error, KITH_ERR_INPUT, "%s: is a folder, expected a file", input->path);
    kith_status status = kith__watch_begin(
        input->watch, "reading", S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0, error);
    if (status == KITH_OK)
        status = refill(input, error);
    if (status != KITH_OK)
        return status;
    if (input->raw_to == 0)
        return kith__fail(error, KITH_ERR_INPUT, "%s: is empty, expected facts", input->path);
    status = start_packing(input, error);
    if (status == KITH_OK && input->packing == PLAIN && S_ISREG(info.st_mode))
        input->size = (uint64_t)info.st_size;
    return status;
}

kith_status kith__input_open(kith__input **out, const char *path, kith__watch *watch,
                             kith_error *error)
{
    kith__input *input = kith__calloc(1, sizeof *input);
    kith_status status;

    if (!input)
        return kith__no_memory(error);
    input->file = -1;
    input->watch = watch;
    input->path = kith__strdup(path);
    input->raw = kith__alloc(BLOCK, 1);
    status = input->path && input->raw ? open_file(input, error) : kith__no_memory(error);
    if (status == KITH_OK)
        *out = input;
    else
        kith__input_close(input);
    return status;
}

void kith__input_close(kith__input *input)
{
    if (!input)
        return;
    if (input->gzip_open)
        inflateEnd(&input->gzip);
    ZSTD_freeDStream(input->zstd);
    if (input->file >= 0)
        close(input->file);
    kith__free(input->path);
    kith__free(input->raw);
    kith__free(input->peeked);
    kith__free(input);
}

const char *kith__input_path(const kith__input *input)
{
    return input->path;
}

uint64_t kith__input_size(const kith__input *input)
{
    return input->size;
}

static kith_status truncated(const kith__input *input, kith_error *error)
{
    return kith__fail(
        error, KITH_ERR_INPUT,
        "%s: the %s data ends too early, expected its end mark (is the file truncated?)",
        input->path, input->packing == GZIP ? "gzip" : "zstd");
}

static kith_status read_plain(size_t *got, kith__input *input, char *buffer, size_t size)
{
    size_t have = input->raw_to - input->raw_from;
    *got = have < size ? have : size;
    memcpy(buffer, input->raw + input->raw_from, *got);
    input->raw_from += *got;
    return KITH_OK;
}

static kith_status read_gzip(size_t *got, kith__input *input, char *buffer, size_t size,
                             kith_error *error)
{
    z_stream *z = &input->gzip;

    if (input->raw_ended) {
        *got = 0;
        return input->gzip_between ? KITH_OK : truncated(input, error);
    }
    if (input->gzip_between) { /* another member follows */
        inflateReset(z);
        input->gzip_between = false;
    }
    z->next_in = (Bytef *)input->raw + input->raw_from;
    z->avail_in = (uInt)(input->raw_to - input->raw_from);
    z->next_out = (Bytef *)buffer;
    z->avail_out = (uInt)size;
    int code = inflate(z, Z_NO_FLUSH);
    input->raw_from = input->raw_to - z->avail_in;
    *got = size - z->avail_out;
    if (code == Z_STREAM_END)
        input->gzip_between = true;
    else if (code != Z_OK && code != Z_BUF_ERROR)
        return kith__fail(error, KITH_ERR_INPUT, "%s: damaged gzip data: %s", input->path,
                          z->msg ? z->msg : "not a gzip stream");
    return KITH_OK;
}

static kith_status read_zstd(size_t *got, kith__input *input, char *buffer, size_t size,
                             kith_error *error)
{
    if (input->raw_ended && input->zstd_state == 0) {
        *got = 0;
        return KITH_OK;
    }
    ZSTD_inBuffer in = {input->raw, input->raw_to, input->raw_from};
    ZSTD_outBuffer out = {buffer, size, 0};
    size_t state = ZSTD_decompressStream(input->zstd, &out, &in);
    if (ZSTD_isError(state))
        return kith__fail(error, KITH_ERR_INPUT, "%s: damaged zstd data: %s", input->path,
                          ZSTD_getErrorName(state));
    input->raw_from = in.pos;
    input->zstd_state = state;
    *got = out.pos;
    if (input->raw_ended && out.pos == 0 && state != 0)
        return truncated(input, error);
    return KITH_OK;
}

static kith_status decode(size_t *got, kith__input *input, char *buffer, size_t size,
                          kith_error *error)
{
    kith_status status;

    /* A compressed block may produce no output yet; only the end of the file ends the content. */
    do {
        status = refill(input, error);
        if (status != KITH_OK)
            return status;
        bool last = input->raw_ended;
        if (input->packing == GZIP)
            status = read_gzip(got, input, buffer, size, error);
        else if (input->packing == ZSTD)
            status = read_zstd(got, input, buffer, size, error);
        else
            status = read_plain(got, input, buffer, size);
        if (last)
            break;
    } while (status == KITH_OK && *got == 0);
    return status;
}

kith_status kith__input_read(size_t *got, kith__input *input, char *buffer, size_t size,
                             kith_error *error)
{
    size_t ahead = input->peeked_to - input->peeked_from;

    if (ahead == 0)
        return decode(got, input, buffer, size, error);
    *got = ahead < size ? ahead : size;
    memcpy(buffer, input->peeked + input->peeked_from, *got);
    input->peeked_from += *got;
    return KITH_OK;
}

kith_status kith__input_peek(const char **text, size_t *length, kith__input *input,
                             kith_error *error)
{
    kith_status status = KITH_OK;
    size_t got = 1;

    if (!input->peeked) {
        input->peeked = kith__alloc(BLOCK, 1);
        if (!input->peeked)
            return kith__no_memory(error);
        while (status == KITH_OK && got > 0 && input->peeked_to < BLOCK) {
            got = 0;
            status = decode(&got, input, input->peeked + input->peeked_to,
                            BLOCK - input->peeked_to, error);
            input->peeked_to += got;
        }
    }
    *text = input->peeked + input->peeked_from;
    *length = input->peeked_to - input->peeked_from;
    return status;
}

/* "UTF-16LE" or "UTF-16BE" by the byte order mark, or by the zeros of the first four characters. */
static const char *utf16_name(const unsigned char *b, size_t length)
{
    if (length < 2)
        return NULL;
    if ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff))
        return "UTF-16";
    if (length < 8)
        return NULL;
    if (b[0] && b[2] && b[4] && b[6] && !b[1] && !b[3] && !b[5] && !b[7])
        return "UTF-16LE";
    if (!b[0] && !b[2] && !b[4] && !b[6] && b[1] && b[3] && b[5] && b[7])
        return "UTF-16BE";
    return NULL;
}

kith_status kith__input_refuse_utf16(kith__input *input, kith_error *error)
{
    const char *text = "";
    size_t length = 0;
    kith_status status = kith__input_peek(&text, &length, input, error);

    if (status != KITH_OK)
        return status;
    const char *name = utf16_name((const unsigned char *)text, length);
    if (!name)
        return KITH_OK;
    const char *path = input->path, *quote = strpbrk(path, " \t'\"$`\\&;()<>|*?") ? "'" : "";
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length_kept = strlen(base);
    for (const char *packed = ".gz\0.zst\0"; *packed; packed += strlen(packed) + 1)
        if (input->packing != PLAIN && length_kept > strlen(packed) &&
            strcmp(base + length_kept - strlen(packed), packed) == 0)
            length_kept -= strlen(packed);
    return kith__fail(error, KITH_ERR_INPUT,
                      "%s: found UTF-16 text, expected UTF-8; convert it with: %s%s%s%s%siconv "
                      "-f %s -t UTF-8%s%s%s%s > %sutf8-%.*s%s",
                      path,
                      input->packing == GZIP   ? "zcat "
                      : input->packing == ZSTD ? "zstdcat "
                                               : "",
                      input->packing == PLAIN ? "" : quote, input->packing == PLAIN ? "" : path,
                      input->packing == PLAIN ? "" : quote, input->packing == PLAIN ? "" : " | ",
                      name, input->packing == PLAIN ? " " : "",
                      input->packing == PLAIN ? quote : "", input->packing == PLAIN ? path : "",
                      input->packing == PLAIN ? quote : "", quote, (int)length_kept, base, quote);
}

kith_status kith__input_read_at(size_t *got, const kith__input *input, char *buffer, size_t size,
                                uint64_t place, kith_error *error)
{
    ssize_t n;
    do
        n = pread(input->file, buffer, size, (off_t)place);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return system_error(error, input->path, "read");
    *got = (size_t)n;
    kith__watch_add(input->watch, *got);
    return kith__watch_status(input->watch, error);
}

/* ---- lines ---- */

void kith__lines_init(kith__lines *lines, kith__input *input)
{
    memset(lines, 0, sizeof *lines);
    lines->input = input;
}

void kith__lines_init_range(kith__lines *lines, kith__input *input, uint64_t from, uint64_t to)
{
    kith__lines_init(lines, input);
    lines->place = from;
    lines->end = to;
    lines->ranged = true;
}

void kith__lines_release(kith__lines *lines)
{
    kith__free(lines->buffer);
    memset(lines, 0, sizeof *lines);
}

static kith_status read_more(kith__lines *lines, kith_error *error)
{
    size_t space = lines->capacity - lines->filled, got = 0;
    char *to = lines->buffer + lines->filled;
    kith_status status;

    if (lines->ranged) {
        if (space > lines->end - lines->place)
            space = (size_t)(lines->end - lines->place);
        status = kith__input_read_at(&got, lines->input, to, space, lines->place, error);
        lines->place += got;
        if (status == KITH_OK && got == 0 && lines->place < lines->end)
            return kith__fail(error, KITH_ERR_IO, "%s: became shorter while it was read",
                              lines->input->path);
    } else {
        status = kith__input_read(&got, lines->input, to, space, error);
    }
    lines->filled += got;
    lines->ended = got == 0;
    return status;
}

kith_status kith__lines_next(char **text, size_t *length, kith__lines *lines, kith_error *error)
{
    /* The rest of the last block is the beginning of a line. */
    if (lines->filled > lines->kept)
        memmove(lines->buffer, lines->buffer + lines->kept, lines->filled - lines->kept);
    lines->filled -= lines->kept;
    lines->kept = 0;
    while (!lines->ended) {
        if (lines->filled == lines->capacity) {
            if (lines->filled >= LINE_LIMIT)
                return kith__fail(error, KITH_ERR_INPUT,
                                  "%s: has a line of more than 64 MiB, expected lines of text",
                                  lines->input->path);
            if (kith__reserve(&lines->buffer, &lines->capacity,
                              lines->capacity ? lines->capacity * 2 : BLOCK, 1))
                return kith__no_memory(error);
        }
        size_t before = lines->filled;
        kith_status status = read_more(lines, error);
        if (status != KITH_OK)
            return status;
        char *newline = memrchr(lines->buffer + before, '\n', lines->filled - before);
        if (newline) {
            lines->kept = (size_t)(newline - lines->buffer) + 1;
            break;
        }
    }
    if (lines->ended)
        lines->kept = lines->filled;
    *text = lines->buffer;
    *length = lines->kept;
    return KITH_OK;
}
