"""Compares the layout that the maker predicts from a real store's model cache with the store's own schema.

usage: real_stores.py STORES    a line for each store, then the agreement of all; the exit code is 1 if something disagrees
"""
import collections, json, os, plistlib, shutil, sqlite3, sys, tempfile

import cached_model
from layout import Layout
from model import BOOKKEEPING
from reading import Reader
from reading_history import transactions
from triggers import triggers


def copies(folder):
    """Each store of a folder as a connection to a copy, since SQLite writes beside a file that it reads."""
    for name in sorted(os.listdir(folder)):
        place = os.path.join(folder, name)
        for file in sorted(os.listdir(place)) if os.path.isdir(place) else []:
            path = os.path.join(place, file)
            if not os.path.isfile(path) or open(path, "rb").read(15) != b"SQLite format 3":
                continue
            with tempfile.TemporaryDirectory() as copy:
                for end in ("", "-wal"):
                    if os.path.exists(path + end):
                        shutil.copy(path + end, os.path.join(copy, "store" + end))
                base = sqlite3.connect(os.path.join(copy, "store"))
                yield place, base
                base.close()


def schema(base, type):
    rows = base.execute("select name, sql from sqlite_master where type = ?", (type,))
    return {name: sql for name, sql in rows if sql}


class Agreement:
    """Counts of cases that hold, and the cases that do not."""
    def __init__(self):
        self.holds, self.of, self.against = collections.Counter(), collections.Counter(), []

    def check(self, rule, subject, holds):
        self.of[rule] += 1
        self.holds[rule] += bool(holds)
        if not holds:
            self.against.append(f"{rule}: {subject}")

    def note(self, rule, holds):
        """Counts a case of a rule that is known to have exceptions."""
        self.of[rule] += 1
        self.holds[rule] += bool(holds)

    def add(self, other):
        self.holds.update(other.holds)
        self.of.update(other.of)
        self.against += other.against

    def line(self):
        return ", ".join(f"{rule} {self.holds[rule]}/{self.of[rule]}" for rule in self.of)


def columns(base, table):
    return [(row[1], row[2]) for row in base.execute(f'pragma table_info("{table}")')]


def compare(place, base, agreement):
    has_cache = base.execute("select 1 from sqlite_master where name = 'Z_MODELCACHE'").fetchone()
    cache = base.execute("select Z_CONTENT from Z_MODELCACHE").fetchone() if has_cache else None
    if not cache or not cache[0]:
        return None
    rows = base.execute("select Z_NAME, Z_ENT, Z_SUPER, Z_MAX from Z_PRIMARYKEY").fetchall()
    numbers = {name: number for name, number, _, _ in rows if number <= 16000}
    model = cached_model.read(cache[0], numbers)
    computed = model.computed_numbers()
    for name, number, above, most in rows:
        if name in numbers:
            agreement.check("numbers", name, computed[name] == number)
            agreement.check("super", name, above == (model.entities[name].parent.number if model.entities[name].parent else 0))
        else:
            agreement.check("bookkeeping", name, BOOKKEEPING.get(name) == number)
    name_joins(base, model, agreement)
    version = plistlib.loads(base.execute("select Z_PLIST from Z_METADATA").fetchone()[0])["NSPersistenceFrameworkVersion"]
    layout = Layout(model, old=version < 700)
    compare_tables(base, layout, agreement)
    compare_joins(base, layout, agreement)
    compare_triggers(base, layout, agreement)
    compare_history(base, layout, agreement)
    compare_objects(place, base, layout, agreement)
    compare_transactions(place, base, layout, agreement)
    return layout


def name_joins(base, model, agreement):
    """Takes the names of the join tables from the store: mostly the lower entity gives it, and the rule of the others is not known."""
    tables = schema(base, "table")
    for entity in model.by_number:
        for one in entity.own:
            inverse = model.inverse(one) if one.is_relationship else None
            if inverse and one.many and inverse.many and inverse is not one:
                one.names_table = f"Z_{entity.number}{one.name.upper()}" in tables
                if one.names_table:
                    other = model.entities[one.to].owner(inverse.name).number
                    agreement.note("join tables of the lower entity", entity.number <= other)


def compare_tables(base, layout, agreement):
    indexes = schema(base, "index")
    for table in layout.tables.values():
        actual = columns(base, table.name)
        predicted = [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")] + table.ordered()
        for one in actual:
            agreement.check("columns", f"{table.name} has {one}", one in predicted)
        for one in predicted:
            agreement.check("columns predicted", f"{table.name} lacks {one}", one in actual)
        agreement.check("order of columns", f"{table.name} {[p for p, a in zip(predicted, actual) if p != a]}", predicted == actual)
        statement = base.execute("select sql from sqlite_master where name = ?", (table.name,)).fetchone()[0]
        agreement.check("statements", f"{statement} not {layout.table_sql(table)}", statement == layout.table_sql(table))
        for name, sql in layout.indexes(table).items():
            agreement.check("indexes", f"{name} {sql} is {indexes.get(name)}", indexes.get(name) == sql)


def compare_triggers(base, layout, agreement):
    found = set(schema(base, "trigger").values())
    for one in triggers(layout):
        agreement.check("triggers", one, one in found)


def compare_joins(base, layout, agreement):
    tables, indexes = schema(base, "table"), schema(base, "index")
    predicted = {one.name for one in layout.joins}
    for name in tables:
        if name.startswith("Z_") and name[2].isdigit():
            agreement.check("join tables", f"{name} is there", name in predicted)
    for join in layout.joins:
        agreement.check("join tables predicted", join.sql, tables.get(join.name) == join.sql)
        for name, sql in join.indexes.items():
            agreement.check("join indexes", f"{sql}", indexes.get(name) == sql)


def compare_history(base, layout, agreement):
    if "ACHANGE" not in schema(base, "table"):
        return
    tombstones = sum(name.startswith("ZTOMBSTONE") for name, _ in columns(base, "ACHANGE"))
    counts = [len(layout.preserved(one)) for one in layout.model.entities.values()]
    agreement.check("tombstones", f"{tombstones}, not {max(counts)}", tombstones == max(counts))
    for number, bits in base.execute("select ZENTITY, ZCOLUMNS from ACHANGE where ZCOLUMNS is not null"):
        slots = layout.slots(layout.model.by_number[number - 1])
        agreement.check("length of ZCOLUMNS", f"{number}: {len(bits)}, {len(slots)} slots", len(bits) == (len(slots) + 7) // 8)


def compare_objects(place, base, layout, agreement):
    """The objects that the predicted layout gives, beside those that another reader found."""
    with open(os.path.join(place, "EXPECTED.jsonl")) as file:
        lines = [json.loads(line) for line in file][1:]
    expected = {(line["entity"], line["pk"]): line for line in lines}
    found = {(line["entity"], line["pk"]): line for line in Reader(base, layout, place).objects()}
    agreement.check("same objects", "", found.keys() == expected.keys())
    for key, line in expected.items():
        for part in ("attributes", "relationships"):
            for name, value in line[part].items():
                other = found[key][part].get(name)
                agreement.check(part, f"{key} {name} {str(other)[:80]}, not {str(value)[:80]}", other == value)


def compare_transactions(place, base, layout, agreement):
    path = os.path.join(place, "EXPECTED-history.jsonl")
    if not os.path.exists(path):
        return
    with open(path) as file:
        expected = [json.loads(line) for line in file]
    found = list(transactions(base, layout))
    agreement.check("same transactions", place, len(found) == len(expected))
    for one, other in zip(expected, found):
        for left, right in zip(one.pop("changes"), other.pop("changes")):
            agreement.check("changes", f"{left} {right}", left == right)
        agreement.check("transactions", f"{one} {other}", one == other)


def main(folder):
    whole = Agreement()
    for place, base in copies(folder):
        agreement = Agreement()
        found = compare(place, base, agreement)
        print(os.path.basename(place), agreement.line() if found else "has no model cache")
        for one in agreement.against:
            print("   ", one)
        whole.add(agreement)
    print("together", whole.line())
    return not whole.against


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) else 1)
