/* Small sources of facts in each syntax. */
#ifndef KITH_TESTS_SOURCES_H
#define KITH_TESTS_SOURCES_H

#include "support.h"

#define EURO "\xe2\x82\xac"
static const char *const three_facts = "a\tlikes\tb\nb\tlikes\tc\na\tknows\tc\n";
static const char *const three_read = "a likes b;b likes c;a knows c;";
void check_facts(const char *path, const char *layout, const char *expected);

static const char *const n_triples =
    "# a comment\n"
    "<http://x/a> <http://x/r> <http://x/b> .\n"
    "\n"
    "_:n1 <http://x/r> \"text\" .\n"
    "<http://x/a> <http://x/s> \"caf\xc3\xa9 \\\"q\\\"\\tt\\u20AC\"@fr .\n"
    "<http://x/a> <http://x/s> \"5\"^^<http://x/int> . # behind";

static const char *const turtle = "@prefix x: <http://x/> .\n"
                                  "PREFIX y: <http://y/>\n"
                                  "@base <http://base/> .\n"
                                  "x:a x:r x:b , y:c ;\n"
                                  "    a <rel> .\n"
                                  "<#frag> x:p \"\"\"two\nlines\"\"\"@en-GB .\n"
                                  "x:n x:v 42 , true , \"5\"^^x:int .\n"
                                  "_:b x:r [ x:s x:t ] .\n";

void put_maps(const char *folder);
void check_skipped(const char *path, size_t bad, const char *first, const char *what,
                   const char *expected);

#endif
