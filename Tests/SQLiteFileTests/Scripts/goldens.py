"""Makes the databases in ../Goldens, each with its dump: python3 goldens.py. They are made once; the tests read them without SQLite."""
import os

import databases

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Goldens")
SMALL = [
    "CREATE TABLE people(id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, born TIMESTAMP, photo BLOB, height FLOAT)",
    "CREATE INDEX people_name ON people(name DESC)",
    "CREATE TABLE pairs(a INTEGER, b INTEGER, PRIMARY KEY(a, b)) WITHOUT ROWID",
]


def fill(connection):
    for index in range(12):
        name = None if index == 5 else ["Ada", "Grüße", "", "世界"][index % 4] + str(index) * (index % 3)
        photo = None if index % 2 else bytes([index]) * [0, 3, 900][index % 3]
        connection.execute("INSERT INTO people(name, born, photo, height) VALUES (?, ?, ?, ?)", (name or "?", index * 0.5, photo, index))
        connection.execute("INSERT INTO pairs VALUES (?, ?)", (index % 4, -index))


def main():
    for name, encoding, journal in [("plain", "UTF-8", "DELETE"), ("log", "UTF-16le", "WAL")]:
        work, target = os.path.join(folder, "work"), os.path.join(folder, name)
        connection = databases.connect(work, 512, encoding, journal)
        for sql in SMALL:
            connection.execute(sql)
        fill(connection)
        if journal == "WAL":
            connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
            connection.execute("UPDATE people SET name = 'newer' WHERE id = 3")
            connection.execute("DELETE FROM pairs WHERE a = 1")
        connection.execute("ALTER TABLE people ADD COLUMN note TEXT DEFAULT 'none'")
        databases.save(connection, work, target)
        connection.close()
        if journal == "WAL":
            # The live frames and one of before the log began anew.
            with open(target + "-wal", "rb") as file:
                data = file.read()
            with open(target + "-wal", "wb") as file:
                file.write(data[:databases.live(data, 512) + 24 + 512])
        for part in ["", "-wal", "-shm"]:
            if os.path.exists(work + part):
                os.remove(work + part)


main()
