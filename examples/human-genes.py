#!/usr/bin/python3
"""Write what two Debian packages know about human genes as facts with labels, a CSV file with a header row.

    apt-get download r-bioc-org.hs.eg.db r-bioc-go.db
    for package in r-bioc-*.deb; do dpkg-deb -x "$package" bioc; done
    examples/human-genes.py bioc > genes.csv
    kith split genes.csv -o genes --rate 30
    kith train genes -o run && kith eval run

Facts are about protein-coding genes (process, function, component, pathway, family, chromosome, band) and about the terms
of the Gene Ontology (is_a, part_of ...). By default one gene in four is taken: which ones goes by a checksum of the name, so
that the same packages give the same facts. The hash of the data goes to standard error, to name it beside results.
"""
import argparse
import csv
import hashlib
import io
import pathlib
import sqlite3
import sys
import zlib

# relation, table, column of the value, what stands before the value
ABOUT_GENES = [
    ("process", "go_bp", "go_id", ""),
    ("function", "go_mf", "go_id", ""),
    ("component", "go_cc", "go_id", ""),
    ("pathway", "kegg", "path_id", "kegg:"),
    ("family", "pfam", "pfam_id", "pfam:"),
    ("chromosome", "chromosomes", "chromosome", "chr:"),
    ("band", "cytogenetic_locations", "cytogenetic_location", "band:"),
]


def database(folder, name):
    found = sorted(pathlib.Path(folder).rglob(name))
    if not found:
        sys.exit(f"{folder}: has no {name}, expected the packages r-bioc-org.hs.eg.db and r-bioc-go.db in it "
                 f"(see the beginning of {sys.argv[0]})")
    return sqlite3.connect(f"file:{found[0]}?mode=ro", uri=True)


def gene_names(genes, share):
    """Symbols by internal id, with the number of the gene where two share a symbol; and their labels."""
    rows = genes.execute("SELECT _id, symbol, gene_id, gene_name FROM gene_info JOIN genes USING (_id) "
                         "JOIN genetype USING (_id) WHERE gene_type = 'protein-coding' ORDER BY _id").fetchall()
    count = {}
    for row in rows:
        count[row[1]] = count.get(row[1], 0) + 1
    names, labels = {}, {}
    for number, symbol, gene_id, label in rows:
        name = symbol if count[symbol] == 1 else f"{symbol}/{gene_id}"
        if zlib.crc32(name.encode()) % share == 0:
            names[number], labels[name] = name, label
    return names, labels


def gene_facts(genes, names):
    for relation, table, column, before in ABOUT_GENES:
        for number, value in genes.execute(f"SELECT _id, {column} FROM {table}"):
            if number in names and value:
                yield names[number], relation, before + value


def term_facts(terms, names):
    for ontology in ("bp", "mf", "cc"):
        for child, relation, parent in terms.execute(
                f"SELECT _id, relationship_type, _parent_id FROM go_{ontology}_parents"):
            if child in names and parent in names:
                yield names[child], relation.replace(" ", "_").replace("isa", "is_a"), names[parent]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", help="where both packages were unpacked")
    parser.add_argument("--share", type=int, default=4, metavar="N", help="take one gene in N; default: 4")
    arguments = parser.parse_args()
    genes, terms = database(arguments.folder, "org.Hs.eg.sqlite"), database(arguments.folder, "GO.sqlite")

    names, labels = gene_names(genes, arguments.share)
    go_names = {}
    for number, go_id, term in terms.execute("SELECT _id, go_id, term FROM go_term"):
        go_names[number], labels[go_id] = go_id, term
    facts = sorted({*gene_facts(genes, names), *term_facts(terms, go_names)})

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["subject", "subjectLabel", "relation", "object", "objectLabel"])
    for subject, relation, thing in facts:
        writer.writerow([subject, labels.get(subject, ""), relation, thing, labels.get(thing, "")])
    data = out.getvalue()
    sys.stdout.write(data)
    print(f"{len(facts)} facts, sha256 {hashlib.sha256(data.encode()).hexdigest()}", file=sys.stderr)


main()
