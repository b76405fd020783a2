#!/usr/bin/env python3
"""Whether `kinfs related` says what comparing a document's bag with all says.

    bench_collection stored TREE STORE N | same_related.py KINFS TREE

Resemblances are to be the same, digit by digit, and so are the documents but those that resemble it
as much as the last one does: which of these are cut off is no matter of resemblance. Prints how many
documents and answers were compared; exit code 1 where any differs.
"""
import subprocess, sys

kinfs, tree = sys.argv[1:]
asked = []
for line in sys.stdin:
    line = line.rstrip("\n")
    if "\t" in line:
        value, name = line.split("\t", 1)
        asked[-1][1].append((value, name))
    else:
        asked.append((line, []))

n_answers = n_wrong = 0
for document, expected in asked:
    run = subprocess.run([kinfs, "related", "-n", "10", "-t", "0", f"{tree}/{document}"], stdout=subprocess.PIPE, text=True)
    answers = [tuple(line.split("\t", 1)) for line in run.stdout.splitlines()]
    last = expected[-1][0] if expected else ""
    n_answers += len(answers)
    if [value for value, _ in answers] != [value for value, _ in expected] or \
            {answer for answer in answers if answer[0] != last} != {answer for answer in expected if answer[0] != last}:
        n_wrong += 1
        print(f"{document}: {answers} and not {expected}", file=sys.stderr)
print(f"{len(asked)} documents, {n_answers} answers; {n_wrong} documents with other answers")
sys.exit(n_wrong != 0 or not asked)
