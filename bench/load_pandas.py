"""Load a TSV of triples with pandas, as one would without kith; says the cost as key=value lines.
  load_pandas.py FILE
"""
import sys
import time

import pandas

began = time.monotonic()
table = pandas.read_csv(sys.argv[1], sep="\t", header=None, dtype=str,
                        names=["subject", "relation", "object"])
ends, entities = pandas.factorize(pandas.concat([table["subject"], table["object"]]))
relation, relations = pandas.factorize(table["relation"])
seconds = time.monotonic() - began

with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
print(f"seconds={seconds:.3f}\nfacts={len(table)}\nfacts_per_second={len(table) / seconds:.0f}")
print(f"entities={len(entities)}\nrelations={len(relations)}\npeak_bytes={peak}")
