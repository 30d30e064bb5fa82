#!/bin/bash
# The converters of examples/, on small data of the same form. Prints TAP.
#   KITH=build/kith KITH_ROOT=. tests/cli/examples_test.sh
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../support/tap.sh"

kith=${KITH:?says where the program is}
examples=$(cd "${KITH_ROOT:?says where the sources are}" && pwd)/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# ---- genes: databases with the tables of r-bioc-org.hs.eg.db and r-bioc-go.db ----

mkdir -p bioc/org.Hs.eg.db/extdata bioc/GO.db/extdata
python3 - <<'PYTHON'
import sqlite3
c = sqlite3.connect("bioc/org.Hs.eg.db/extdata/org.Hs.eg.sqlite")
c.executescript("""
CREATE TABLE genes (_id INTEGER PRIMARY KEY, gene_id VARCHAR(10) NOT NULL UNIQUE);
CREATE TABLE gene_info (_id INTEGER NOT NULL UNIQUE, gene_name VARCHAR(255) NOT NULL, symbol VARCHAR(80) NOT NULL);
CREATE TABLE genetype (_id INTEGER NOT NULL, gene_type VARCHAR(20) NOT NULL);
CREATE TABLE chromosomes (_id INTEGER NOT NULL, chromosome VARCHAR(2) NOT NULL);
CREATE TABLE cytogenetic_locations (_id INTEGER NOT NULL, cytogenetic_location VARCHAR(20) NOT NULL);
CREATE TABLE kegg (_id INTEGER NOT NULL, path_id CHAR(5) NOT NULL);
CREATE TABLE pfam (_id INTEGER NOT NULL, ipi_id CHAR(11), pfam_id CHAR(7) NULL);
""")
for table in ("go_bp", "go_mf", "go_cc"):
    c.execute(f"CREATE TABLE {table} (_id INTEGER NOT NULL, go_id CHAR(10) NOT NULL, evidence CHAR(3) NOT NULL)")
genes = [(1, "7157", 'tumor "protein" p53, human', "TP53", "protein-coding"), (2, "1", "first of two", "TWIN", "protein-coding"),
         (3, "2", "second of two", "TWIN", "protein-coding"), (4, "9", "not for proteins", "NONE", "ncRNA")]
for number, gene_id, name, symbol, kind in genes:
    c.execute("INSERT INTO genes VALUES (?, ?)", (number, gene_id))
    c.execute("INSERT INTO gene_info VALUES (?, ?, ?)", (number, name, symbol))
    c.execute("INSERT INTO genetype VALUES (?, ?)", (number, kind))
    c.execute("INSERT INTO chromosomes VALUES (?, '17')", (number,))
c.execute("INSERT INTO go_bp VALUES (1, 'GO:0006915', 'IDA')")
c.execute("INSERT INTO go_bp VALUES (1, 'GO:0006915', 'IEA')")
c.execute("INSERT INTO go_mf VALUES (2, 'GO:0003677', 'IDA')")
c.execute("INSERT INTO pfam VALUES (1, 'IPI00000001', 'PF00870')")
c.execute("INSERT INTO pfam VALUES (2, 'IPI00000002', NULL)")
c.execute("INSERT INTO kegg VALUES (3, '04115')")
c.execute("INSERT INTO cytogenetic_locations VALUES (1, '17p13.1')")
c.commit()
c = sqlite3.connect("bioc/GO.db/extdata/GO.sqlite")
c.execute("CREATE TABLE go_term (_id INTEGER PRIMARY KEY, go_id CHAR(10) NOT NULL UNIQUE, term VARCHAR(255) NOT NULL, "
          "ontology VARCHAR(9) NOT NULL, definition TEXT NULL)")
for table in ("bp", "mf", "cc"):
    c.execute(f"CREATE TABLE go_{table}_parents (_id INTEGER NOT NULL, _parent_id INTEGER NOT NULL, "
              "relationship_type VARCHAR(7) NOT NULL)")
c.executemany("INSERT INTO go_term VALUES (?, ?, ?, ?, NULL)", [
    (1, "GO:0006915", "apoptotic process", "BP"), (2, "GO:0012501", "programmed cell death", "BP"),
    (3, "GO:0003677", "DNA binding", "MF")])
c.execute("INSERT INTO go_bp_parents VALUES (1, 2, 'isa')")
c.execute("INSERT INTO go_mf_parents VALUES (3, 2, 'part of')")
c.execute("INSERT INTO go_bp_parents VALUES (2, 99, 'isa')")
c.commit()
PYTHON

"$examples/human-genes.py" bioc --share 1 >genes.csv 2>err
report $? 'genes: the databases are read' "$(cat err)"
cat >expected <<'CSV'
subject,subjectLabel,relation,object,objectLabel
GO:0003677,DNA binding,part_of,GO:0012501,programmed cell death
GO:0006915,apoptotic process,is_a,GO:0012501,programmed cell death
TP53,"tumor ""protein"" p53, human",band,band:17p13.1,
TP53,"tumor ""protein"" p53, human",chromosome,chr:17,
TP53,"tumor ""protein"" p53, human",family,pfam:PF00870,
TP53,"tumor ""protein"" p53, human",process,GO:0006915,apoptotic process
TWIN/1,first of two,chromosome,chr:17,
TWIN/1,first of two,function,GO:0003677,DNA binding
TWIN/2,second of two,chromosome,chr:17,
TWIN/2,second of two,pathway,kegg:04115,
CSV
diff expected genes.csv >out
report $? 'genes: facts and labels are those of the databases' "$(cat out)"
[ "$(cat err)" = "10 facts, sha256 $(sha256sum <genes.csv | cut -d' ' -f1)" ]
report $? 'genes: the hash is that of the data' "$(cat err; sha256sum genes.csv)"
"$examples/human-genes.py" bioc --share 2 2>/dev/null | cut -d, -f1 | grep -vE '^(subject|GO:)' | sort -u >some
[ "$(wc -l <some)" -lt 3 ]
report $? 'genes: a share has fewer genes' "$(cat some)"
check 'genes: kith reads them' 0 'header row: subject, relation, object' "$kith" stats genes.csv
json 'genes: with labels' 'o["facts"]["train"] == 10 and o["labels_read"] == 14' "$kith" stats genes.csv --json
mkdir empty
check 'genes: a folder without them is told' 1 'has no org.Hs.eg.sqlite, expected the packages' "$examples/human-genes.py" empty

# ---- packages: what apt-cache prints ----

mkdir bin
cat >bin/apt-cache <<'APT'
#!/bin/sh
for i in 1 2 3 4 5 6 7 8; do
    printf 'Package: tool%d\nMaintainer: Ada <ada@example.org>\nDepends: libc6 (>= 2), a | b:any\n' "$i"
    printf 'Tag: role::program,\n interface::commandline\nSection: utils\n\n'
done
APT
chmod +x bin/apt-cache
PATH=$PWD/bin:$PATH "$examples/debian-packages.py" >packages.tsv 2>err
report $? 'packages: the list is read' "$(cat err)"
[ "$(cat err)" = "$(wc -l <packages.tsv) facts, sha256 $(sha256sum <packages.tsv | cut -d' ' -f1)" ]
report $? 'packages: the hash is that of the data' "$(cat err; sha256sum packages.tsv)"
check 'packages: kith reads them' 0 'tag-role' "$kith" stats packages.tsv

echo "1..$number"
[ "$failed" = 0 ]
