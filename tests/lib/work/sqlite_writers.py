#!/usr/bin/env python3
"""Databases under two writers and a reader: sqlite_writers.py run|check DIRECTORY. Exits 1 where a
row is missing, a transaction is seen by half, or integrity_check complains."""
import os
import sqlite3
import sys

TRANSACTIONS = 40  # of each writer
ROWS = 5  # of each transaction
MODES = [  # name, journal mode, bytes of memory map
    ("wal", "WAL", 0),
    ("wal_mmap", "WAL", 1 << 26),
    ("delete", "DELETE", 0),
    ("delete_mmap", "DELETE", 1 << 26),
    ("truncate", "TRUNCATE", 0),
    ("persist", "PERSIST", 0),
]


def connect(path, mmap_size):
    database = sqlite3.connect(path, timeout=60, isolation_level=None)
    database.execute(f"PRAGMA mmap_size={mmap_size}")
    database.execute("PRAGMA synchronous=NORMAL")
    return database


def write(path, mmap_size, writer):
    database = connect(path, mmap_size)
    for n in range(TRANSACTIONS):
        database.execute("BEGIN IMMEDIATE")
        for row in range(ROWS):
            database.execute("INSERT INTO t VALUES (?, ?, ?, ?)", (writer, n, row, "x" * (200 * row)))
        database.execute("UPDATE total SET n = n + ?", (ROWS,))
        if n % 10 == 9:
            database.execute("ROLLBACK")
            continue
        database.execute("COMMIT")
    database.close()


def read(path, mmap_size, stop):
    """Until told to stop: what is seen is always whole transactions."""
    database = connect(path, mmap_size)
    looks = 0
    while True:
        database.execute("BEGIN")
        rows = database.execute("SELECT count(*) FROM t").fetchone()[0]
        total = database.execute("SELECT n FROM total").fetchone()[0]
        database.execute("COMMIT")
        if rows != total or rows % ROWS:
            print(f"{path}: {rows} rows where the same transaction says {total}")
            sys.exit(1)
        looks += 1
        if looks > 3 and os.stat(stop).st_size:
            sys.exit(0)


def check(path):
    database = sqlite3.connect(path)
    found = database.execute("PRAGMA integrity_check").fetchall()
    if found != [("ok",)]:
        print(f"{path}: {found}")
        sys.exit(1)
    committed = TRANSACTIONS - TRANSACTIONS // 10
    rows = database.execute("SELECT writer, count(*), sum(length(text)) FROM t GROUP BY writer").fetchall()
    expected = [(w, committed * ROWS, committed * 200 * sum(range(ROWS))) for w in (1, 2)]
    if rows != expected or database.execute("SELECT n FROM total").fetchall() != [(2 * committed * ROWS,)]:
        print(f"{path}: {rows} instead of {expected}")
        sys.exit(1)
    database.close()


def process(function, *args):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            function(*args)
            code = 0
        except SystemExit as end:
            code = end.code
        except sqlite3.Error as error:
            print(f"{args}: {error}", flush=True)
        finally:
            sys.stdout.flush()
            os._exit(code)
    return pid


def run(directory, name, mode, mmap_size):
    path, stop = f"{directory}/{name}.db", f"{directory}/{name}.stop"
    database = connect(path, mmap_size)
    got = database.execute(f"PRAGMA journal_mode={mode}").fetchone()[0]
    if got.upper() != mode:
        print(f"{path}: asked for {mode}, got {got}")
        sys.exit(1)
    database.execute("CREATE TABLE t (writer, n, row, text)")
    database.execute("CREATE TABLE total (n)")
    database.execute("INSERT INTO total VALUES (0)")
    database.close()
    open(stop, "x").close()
    reader = process(read, path, mmap_size, stop)
    failed = [os.waitpid(pid, 0)[1] for pid in [process(write, path, mmap_size, w) for w in (1, 2)]]
    with open(stop, "w") as file:
        file.write("stop")
    failed.append(os.waitpid(reader, 0)[1])
    if any(failed):
        print(f"{path}: a process failed")
        sys.exit(1)
    check(path)


for name, mode, mmap_size in MODES:
    if sys.argv[1] == "run":
        run(sys.argv[2], name, mode, mmap_size)
    else:
        check(f"{sys.argv[2]}/{name}.db")
