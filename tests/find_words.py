"""Print where files use a word of tests/words.txt: find_words.py WORDS FILE..."""
import re
import sys

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8")
        if line.strip() and not line.startswith("#")]
words = [(re.compile(pattern.replace(" ", r"[\s*]+"), re.IGNORECASE), better) for pattern, better in rows
         if not pattern.startswith("=")]
identifiers = [(re.compile(rf"\b({pattern[1:]})\b"), better) for pattern, better in rows
               if pattern.startswith("=")]
# Of C: comments and strings, and between them the code.
prose_of_c = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def pieces_of_c(text):
    at = 0
    for match in prose_of_c.finditer(text):
        yield at, text[at:match.start()], identifiers
        is_path = match.group().startswith('"') and text.rfind("#include", 0, match.start()) > text.rfind("\n", 0, match.start())
        if not is_path:
            yield match.start(), match.group(), words
        at = match.end()
    yield at, text[at:], identifiers


for name in sys.argv[2:]:
    text = open(name, encoding="utf-8").read()
    for start, piece, wrong in pieces_of_c(text) if name[-2:] in (".c", ".h") else [(0, text, words)]:
        for pattern, better in wrong:
            for match in pattern.finditer(piece):
                line = text.count("\n", 0, start + match.start()) + 1
                found = " ".join(match.group().split())
                print(f"{name}:{line}: '{found}', better: {better}")
