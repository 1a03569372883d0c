"""Asks SQLite about built files: python3 check.py COMMAND PATH... The tests run it.

check: the checks of SQLite, then each index against a sort of its table's rows; prints "ok" or the complaints. Takes several files.
dump:  the SQL that makes the database, as the shell's .dump has it.
query: one statement a line of the input; prints the rows of each as Python writes them, then an empty line.
header: prints the answers of the header's pragmas.
make:   runs the statements of the input, one a line, in a new database. They may call real(bits in hexadecimal).
"""
import sqlite3
import struct
import sys


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def check(connection):
    problems = []
    for pragma in ("integrity_check", "quick_check", "foreign_key_check"):
        answers = connection.execute("PRAGMA " + pragma).fetchall()
        if answers != ([] if pragma == "foreign_key_check" else [("ok",)]):
            problems.append(f"{pragma}: {answers[:5]}")
    rows = connection.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index'").fetchall()
    for name, table, sql in rows:
        keys = [row for row in connection.execute(f"PRAGMA index_xinfo({quoted(name)})") if row[5]]
        order = ", ".join((quoted(row[2]) if row[1] >= 0 else "rowid") + (" DESC" if row[3] else "") for row in keys)
        columns = ", ".join(quoted(row[2]) if row[1] >= 0 else "rowid" for row in keys)
        # A partial index has the rows of its condition, and serves only a statement that has it too.
        condition = " WHERE " + sql.split(" WHERE ", 1)[1] if sql and " WHERE " in sql else ""
        # A unary plus keeps SQLite from answering by an index.
        scanned = connection.execute(
            f"SELECT rowid, {columns} FROM {quoted(table)} NOT INDEXED{condition} ORDER BY {order}, rowid").fetchall()
        source = f"{quoted(table)} INDEXED BY {quoted(name)}" if sql else quoted(table)
        found = connection.execute(f"SELECT rowid, {columns} FROM {source}{condition} ORDER BY {order}, rowid").fetchall()
        if scanned != found:
            problems.append(f"{name}: {len(found)} entries for {len(scanned)} rows, or another order")
    return problems


def dump(connection):
    return "\n".join(connection.iterdump()) + "\n"


def query(connection):
    answers = []
    for statement in sys.stdin.read().splitlines():
        answers.append("".join(repr(row) + "\n" for row in connection.execute(statement)))
    return "\n".join(answers)


def header(connection):
    names = ("page_size", "page_count", "user_version", "application_id", "encoding", "freelist_count", "auto_vacuum", "journal_mode")
    return " ".join(str(connection.execute("PRAGMA " + name).fetchone()[0]) for name in names)


def make(path):
    database = sqlite3.connect(path, isolation_level=None)
    # A literal's last digit may be rounded in another way, so reals come as their bits.
    database.create_function("real", 1, lambda bits: struct.unpack(">d", bytes.fromhex(bits))[0])
    database.execute("PRAGMA journal_mode = MEMORY")
    for statement in sys.stdin.read().splitlines():
        database.execute(statement)
    database.close()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
        sys.exit()
    databases = [sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in sys.argv[2:]]
    if sys.argv[1] == "check":
        problems = [f"{path}: {problem}" for path, database in zip(sys.argv[2:], databases) for problem in check(database)]
        print("\n".join(problems) or "ok", end="")
        sys.exit()
    print({"dump": dump, "query": query, "header": header}[sys.argv[1]](databases[0]), end="")
