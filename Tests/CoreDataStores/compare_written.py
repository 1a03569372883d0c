"""Compares a store that was written from another store's objects with that store.

usage: compare_written.py ORIGINAL WRITTEN

Prints one line for each difference, which begins with its kind. The last line says how the rows were compared: "rows" one by one, where
the keys are the same; "columns" by the values that occur in each column for each entity, where rows have got new keys.
"""
import collections, os, plistlib, re, shutil, sqlite3, sys, tempfile

BOOKKEEPING = ("Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE")


def opened(path, folder, name):
    """A copy, since SQLite writes beside a file that it reads."""
    copy = os.path.join(folder, name)
    for end in ("", "-wal"):
        if os.path.exists(path + end):
            shutil.copy(path + end, copy + end)
    return sqlite3.connect(copy)


def schema(base, type):
    return {name: sql for name, sql in base.execute("select name, sql from sqlite_master where type = ? and sql is not null", (type,))}


def columns(base, table):
    return [row[1] for row in base.execute(f'pragma table_info("{table}")')]


class Comparison:
    def __init__(self, old, new):
        self.old, self.new, self.lines, self.is_by_row = old, new, [], True

    def say(self, kind, text):
        self.lines.append(f"{kind}: {text}")

    def run(self):
        for check in ("integrity_check", "foreign_key_check"):
            for row in self.new.execute(f"pragma {check}"):
                if row != ("ok",):
                    self.say(check, row)
        for type in ("table", "index", "trigger"):
            self.compare_schema(type)
        tables = [name for name in schema(self.old, "table") if name in schema(self.new, "table") and name not in BOOKKEEPING]
        objects = [name for name in tables if "Z_ENT" in columns(self.old, name)]
        keys = {table: self.keys(self.old, table) == self.keys(self.new, table) for table in objects}
        self.is_by_row = all(keys.values())
        for table in objects:
            self.compare_objects(table)
        for table in tables:
            if table.startswith("Z_") and table not in objects:
                self.compare_pairs(table)
        self.compare_bookkeeping()

    def compare_schema(self, type):
        old, new = schema(self.old, type), schema(self.new, type)
        for name in sorted(old.keys() - new.keys()):
            self.say(f"{type} is not there", name)
        for name in sorted(new.keys() - old.keys()):
            self.say(f"{type} is new", name)
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                self.say(f"{type} has another statement", f"{name}: {new[name]} -- {old[name]}")

    @staticmethod
    def keys(base, table):
        return set(base.execute(f'select Z_PK, Z_ENT from "{table}"'))

    def compare_objects(self, table):
        common = [name for name in columns(self.old, table) if name in columns(self.new, table)]
        indexes = schema(self.old, "index")
        for column in common:
            is_key = f"{table}_{column}_INDEX" in indexes and column != "Z_ENT" or re.match(r"Z\d+[A-Z_]", column)
            if column == "Z_PK":
                pass
            elif column.startswith("Z_FOK_"):
                self.compare_values(table, column, f"{column} is null", True)
                if self.is_by_row:
                    self.compare_order(table, column)
            elif is_key and not self.is_by_row:
                self.compare_values(table, column, f"{column} is null", True)
            else:
                self.compare_values(table, column, column, False)

    def compare_values(self, table, column, expression, is_count):
        key = "Z_PK" if self.is_by_row else "0"
        statement = f'select {key}, Z_ENT, typeof({expression}), {expression} from "{table}"'
        old, new = (collections.Counter(base.execute(statement)) for base in (self.old, self.new))
        if old == new:
            return
        kind = "version" if column == "Z_OPT" else "external" if self.is_external(old) else "order count" if is_count else "values"
        self.say(kind, f"{table}.{column} {list((old - new).items())[:2]} became {list((new - old).items())[:2]}"[:400])

    @staticmethod
    def is_external(rows):
        return any(isinstance(row[3], bytes) and row[3][:1] == b"\2" and len(row[3]) == 38 for row in rows)

    def compare_order(self, table, column):
        """Only the order of the values counts, within each owner."""
        owner = "Z" + column[len("Z_FOK_"):]
        if owner not in columns(self.old, table):
            return
        statement = f'select Z_PK from "{table}" where {owner} is not null order by {owner}, {column}'
        if list(self.old.execute(statement)) != list(self.new.execute(statement)):
            self.say("order", f"{table}.{column}")

    def compare_pairs(self, table):
        names = columns(self.old, table)
        if names != columns(self.new, table):
            return
        keys = ", ".join(name for name in names if not name.startswith("Z_FOK_"))
        what = keys if self.is_by_row else "count(*)"
        old, new = (sorted(base.execute(f'select {what} from "{table}"')) for base in (self.old, self.new))
        if old != new:
            self.say("pairs", f"{table} {old[:3]} became {new[:3]}")
        for order in [name for name in names if name.startswith("Z_FOK_")] if self.is_by_row else []:
            member = "Z_" + order[len("Z_FOK_"):]
            owner = next(name for name in names[:2] if name != member)
            statement = f'select {owner}, {member} from "{table}" order by {owner}, {order}'
            if list(self.old.execute(statement)) != list(self.new.execute(statement)):
                self.say("order", f"{table}.{order}")

    def compare_bookkeeping(self):
        statement = "select Z_ENT, Z_NAME, Z_SUPER, Z_MAX from Z_PRIMARYKEY where Z_ENT < 16000"
        old, new = ({row[0]: row[1:] for row in base.execute(statement)} for base in (self.old, self.new))
        if {key: row[:2] for key, row in old.items()} != {key: row[:2] for key, row in new.items()}:
            self.say("entities", f"{old} became {new}")
        for number in old.keys() & new.keys():
            if old[number][2] != new[number][2]:
                self.say("maximum", f"{old[number]} became {new[number]}")
        old, new = (base.execute("select Z_VERSION, Z_UUID, Z_PLIST from Z_METADATA").fetchall() for base in (self.old, self.new))
        if len(new) != 1 or new[0][0] != 1:
            self.say("metadata", new)
        old, new = (plistlib.loads(rows[0][2]) if rows[0][2] else {} for rows in (old, new))
        # The model, in a file without a cache.
        for key in sorted((old.keys() | new.keys()) - {"HeartwoodModel"}):
            if old.get(key) != new.get(key):
                self.say("metadata", f"{key} {str(old.get(key))[:80]} became {str(new.get(key))[:80]}")


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        old, new = opened(arguments[0], folder, "old"), opened(arguments[1], folder, "new")
        comparison = Comparison(old, new)
        comparison.run()
        old.close()
        new.close()
    print("\n".join(comparison.lines + ["rows" if comparison.is_by_row else "columns"]))


if __name__ == "__main__":
    main(sys.argv[1:])
