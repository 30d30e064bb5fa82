"""Print where files use a word of tests/words.txt: words.py WORDS FILE..."""
import re
import sys

rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8")
        if line.strip() and not line.startswith("#")]
words = [(re.compile(pattern.replace(" ", r"[\s*]+"), re.IGNORECASE), better) for pattern, better in rows]
# Of C: comments and strings, not identifiers.
prose_of_c = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)

for name in sys.argv[2:]:
    text = open(name, encoding="utf-8").read()
    pieces = [(m.start(), m.group()) for m in prose_of_c.finditer(text)] if name[-2:] in (".c", ".h") else [(0, text)]
    for start, piece in pieces:
        if piece.startswith('"') and text.rfind("#include", 0, start) > text.rfind("\n", 0, start):
            continue
        for pattern, better in words:
            for match in pattern.finditer(piece):
                line = text.count("\n", 0, start + match.start()) + 1
                found = " ".join(match.group().split())
                print(f"{name}:{line}: '{found}', better: {better}")
