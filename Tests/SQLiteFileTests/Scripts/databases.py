"""Makes databases with SQLite and dumps their rows: python3 databases.py COMMAND ARGUMENTS. The tests run it.

A dump has one line for each row: table, rowid (or -), then the values: n, i and digits, r and the bits in hexadecimal, t or b and bytes
in hexadecimal (texts as UTF-8).
"""
import os
import shutil
import sqlite3
import struct
import sys

VALUES = [
    None, "", "short", "Grüße, 世界 😀", "long " * 700, 0, 1, -1, 127, -128, 128, 32767, -32769, 8388607, -8388609, 2147483647, -2147483649,
    140737488355327, -140737488355329, 9223372036854775807, -9223372036854775808, 0.0, 3.0, -1.5, 1e300, float("inf"), b"", b"\x00",
    bytes(range(256)) * 20,
]


def text(value):
    if value is None:
        return "n"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return "r" + struct.pack(">d", value).hex()
    return ("t" + value.encode().hex()) if isinstance(value, str) else "b" + value.hex()


def dump(connection, tables=None):
    lines = []
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name").fetchall():
        if tables and name not in tables:
            continue
        without = "WITHOUT ROWID" in (sql or "").upper()
        rows = connection.execute(f'SELECT {"0" if without else "rowid"}, * FROM "{name}"' + ("" if without else " ORDER BY rowid"))
        for row in rows:
            lines.append(" ".join([name, "-" if without else str(row[0])] + [text(value) for value in row[1:]]))
    return "\n".join(lines) + "\n"


def connect(path, page_size=4096, encoding="UTF-8", journal="DELETE", vacuum="NONE"):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute(f"PRAGMA encoding = '{encoding}'")
    connection.execute(f"PRAGMA auto_vacuum = {vacuum}")
    connection.execute(f"PRAGMA journal_mode = {journal}")
    return connection


def save(connection, source, target):
    """Copies a database that is open, with its log or journal, and its dump."""
    for part in ["", "-wal", "-journal"]:
        if os.path.exists(source + part):
            shutil.copy(source + part, target + part)
    with open(target + ".dump", "w") as file:
        file.write(dump(connection))


def fill(connection, start, step=1):
    """Every value in every column, beside every other."""
    rows = []
    for index, first in enumerate(VALUES):
        for offset in range(0, len(VALUES), step):
            other = VALUES[(index + offset) % len(VALUES)]
            third = VALUES[(index * 7 + offset * 3) % len(VALUES)]
            rows.append((start + len(rows), first, other, third, first, other))
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", rows)


SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c REAL, d NUMERIC, e BLOB)"


def live(data, page_size):
    """The end of the frames that a log has from its newest beginning."""
    end = 32
    while data[end + 8:end + 16] == data[16:24]:
        end += 24 + page_size
    return end


def states(directory, page_size, encoding):
    """One database in each state of its files."""
    path = lambda name: os.path.join(directory, name)
    for journal in ["DELETE", "TRUNCATE", "PERSIST"]:
        name = "rollback-" + journal.lower()
        connection = connect(path("work-" + name), page_size, encoding, journal, "FULL" if journal == "TRUNCATE" else "NONE")
        connection.execute(SCHEMA)
        connection.execute("BEGIN")
        fill(connection, 1, 8)
        connection.execute("COMMIT")
        connection.execute("DELETE FROM t WHERE id % 3 = 1")
        save(connection, path("work-" + name), path(name))
        if journal == "TRUNCATE":
            connection.execute("VACUUM")
            save(connection, path("work-" + name), path("vacuumed"))
        connection.close()
    work = path("work-wal")
    connection = connect(work, page_size, encoding, "WAL", "INCREMENTAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(SCHEMA)
    save(connection, work, path("wal-schema"))
    connection.execute("BEGIN")
    fill(connection, -100, 8)
    connection.execute("COMMIT")
    save(connection, work, path("wal"))
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    save(connection, work, path("wal-checkpointed"))
    connection.execute("UPDATE t SET b = 'changed' WHERE id % 10 = 0")
    save(connection, work, path("wal-restarted"))
    connection.execute("INSERT INTO t(a) VALUES ('torn')")
    save(connection, work, path("wal-more"))
    # The last commit of one with bytes that are cut, and of one with a byte that is wrong, does not count.
    for name, change in [("wal-torn", lambda data: data[:-1]), ("wal-damaged", lambda data: data[:-1] + bytes([data[-1] ^ 1]))]:
        for part in ["", "-wal", ".dump"]:
            shutil.copy(path(("wal-restarted" if part == ".dump" else "wal-more") + part), path(name + part))
        with open(path(name + "-wal"), "rb") as file:
            data = file.read()
        with open(path(name + "-wal"), "wb") as file:
            file.write(change(data[:live(data, page_size)]))
    connection.execute("PRAGMA cache_size = 2")
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET e = zeroblob(3000)")
    connection.execute("SELECT 1")
    for part in ["", "-wal"]:
        shutil.copy(work + part, path("wal-uncommitted") + part)
    shutil.copy(path("wal-more.dump"), path("wal-uncommitted.dump"))
    connection.execute("ROLLBACK")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    save(connection, work, path("wal-cut"))
    connection.close()


def journal(directory, page_size, synchronous):
    """A database whose writer died inside a transaction, with pages in the file already."""
    work, target = os.path.join(directory, "work"), os.path.join(directory, "hot")
    connection = connect(work, page_size)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute(SCHEMA)
    connection.execute("BEGIN")
    fill(connection, 1, 7)
    connection.execute("COMMIT")
    with open(target + ".dump", "w") as file:
        file.write(dump(connection))
    connection.execute("PRAGMA cache_size = 5")
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET a = randomblob(100), id = id + 10000 WHERE id % 2 = 0")
    connection.execute("INSERT INTO t(e) SELECT randomblob(2000) FROM t")
    for part in ["", "-journal"]:
        shutil.copy(work + part, target + part)
    connection.execute("ROLLBACK")
    connection.close()


def script(path, page_size, encoding):
    """Runs the SQL of the standard input, one statement a line, and writes the dump."""
    connection = connect(path, page_size, encoding)
    for line in sys.stdin.read().split("\n"):
        connection.execute(line)
    with open(path + ".dump", "w") as file:
        file.write(dump(connection))
    connection.close()


def deep(path, rows, width):
    connection = connect(path, 512)
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a)")
    connection.execute("CREATE INDEX t_a ON t(a)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO t VALUES (?, ?)", ((3 * index - rows, "x" * (width + index % 7)) for index in range(rows)))
    connection.execute("COMMIT")
    connection.close()


def query(path):
    """Answers the SQL lines of the standard input, each with its rows and an empty line."""
    connection = sqlite3.connect(path)
    for line in sys.stdin.read().split("\n"):
        for row in connection.execute(line):
            print(" ".join(text(value) for value in row))
        print()


def show(path):
    """Prints the dump of a database."""
    connection = sqlite3.connect(path)
    connection.text_factory = lambda data: data.decode(errors="replace")
    print(dump(connection), end="")


def write(path, journal, seconds):
    """Changes a database in transactions that each keep the sum of n at 0 and the count of rows at a multiple of 10."""
    import random
    import time
    connection = connect(path, 1024, "UTF-8", journal)
    connection.execute("PRAGMA busy_timeout = 10000")
    connection.execute("PRAGMA cache_size = 5")
    connection.execute("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, n, pad)")
    print("ready", flush=True)
    end = time.time() + seconds
    turn = 0
    while time.time() < end:
        connection.execute("BEGIN IMMEDIATE")
        for _ in range(random.randrange(1, 5)):
            for n in [1, -1, 2, -2, 3, -3, 4, -4, 5, -5]:
                connection.execute("INSERT INTO t(n, pad) VALUES (?, randomblob(?))", (n, random.choice([0, 10, 300, 3000])))
        connection.execute("UPDATE t SET n = -n, pad = randomblob(20) WHERE id % 2 = ?", (turn % 2,))
        connection.execute("UPDATE t SET n = -n WHERE id % 2 = ?", (1 - turn % 2,))
        if turn % 7 == 6:
            connection.execute("DELETE FROM t")
        connection.execute("ROLLBACK" if turn % 5 == 4 else "COMMIT")
        if turn % 11 == 10:
            connection.execute("VACUUM")
        if journal == "WAL" and turn % 3 == 2:
            connection.execute(f"PRAGMA wal_checkpoint({random.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})").fetchall()
        if turn % 13 == 12:
            connection.close()
            connection = connect(path, 1024, "UTF-8", journal)
            connection.execute("PRAGMA busy_timeout = 10000")
        time.sleep(random.choice([0, 0.001, 0.01]))
        turn += 1
    connection.close()


if __name__ == "__main__":
    command, arguments = sys.argv[1], [int(word) if word.lstrip("-").isdigit() else word for word in sys.argv[2:]]
    {"states": states, "journal": journal, "script": script, "deep": deep, "query": query, "dump": show, "write": write}[command](*arguments)
