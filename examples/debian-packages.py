#!/usr/bin/python3
"""Write what apt knows about a quarter of Debian's packages as facts, one per line, separated by tabs.

    examples/debian-packages.py > packages.tsv
    kith split packages.tsv -o packages --rate 30
    kith train packages -o run && kith eval run

Which quarter goes by a checksum of the name, so that the same lists give the same facts. apt's lists change daily: the hash
of the data goes to standard error, to name it beside results.
"""
import hashlib
import re
import subprocess
import sys
import zlib


def fields(paragraph):
    found, last = {}, None
    for line in paragraph.split("\n"):
        if line.startswith(" ") and last:
            found[last] += line
        elif ":" in line:
            last, value = line.split(":", 1)
            found[last] = value.strip()
    return found


def names(text):
    """Packages of a list like "a (>= 1) | b, c:any"."""
    for item in re.split("[,|]", text):
        name = item.strip().split(" ")[0].split(":")[0]
        if name:
            yield name


def facts(package):
    subject = "pkg:" + package["Package"]
    for relation in ("Depends", "Recommends", "Suggests", "Breaks", "Provides"):
        for name in names(package.get(relation, "")):
            yield subject, relation.lower(), "pkg:" + name
    for tag in package["Tag"].replace(" ", "").split(","):
        if "::" in tag:
            yield subject, "tag-" + tag.split("::")[0], tag.split("{")[0]
    yield subject, "section", "section:" + package.get("Section", "?")
    yield subject, "maintainer", package.get("Maintainer", "?").split("<")[0].strip()
    yield subject, "source", "src:" + package.get("Source", package["Package"]).split(" ")[0]


listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
packages = [fields(paragraph) for paragraph in listed.stdout.split("\n\n")]
lines = sorted({"\t".join(fact) for package in packages
                if "Tag" in package and zlib.crc32(package["Package"].encode()) % 4 == 0
                for fact in facts(package)})
data = "".join(line + "\n" for line in lines)
sys.stdout.write(data)
print(f"{len(lines)} facts, sha256 {hashlib.sha256(data.encode()).hexdigest()}", file=sys.stderr)
