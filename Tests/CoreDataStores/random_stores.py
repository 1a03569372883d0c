"""Makes stores of seeds, and compares what the command heartwood does with them with what was put into them.

usage: random_stores.py HEARTWOOD FIRST COUNT

A store is exported, verified, converted and written back, with its own version as --model; each result must have the same objects, and the
written tables the same rows (compare_written.py). Prints a line for each difference, with its seed.
"""
import datetime, decimal, json, os, struct, subprocess, sys, tempfile, urllib.parse

from random_description import Description
from reading import EPOCH
from storing import Store

# Differences that writing may make: docs/internals/core-data-writing.md.
ALLOWED = ("version", "external", "metadata", "maximum", "table is not there: sqlite_", "rows")


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def name(uri):
    return urllib.parse.unquote("/".join(uri.rsplit("/", 2)[1:])).replace("/p", "/")


def seconds(text):
    if not isinstance(text, str):
        return text - 978307200
    if text.endswith(" s"):
        return float(text[:-2])
    return (datetime.datetime.fromisoformat(text.rstrip("Z")) - EPOCH).total_seconds()


def is_same(expected, found, kind):
    if expected is None or found is None:
        return expected is found or kind == "uri" and expected == ""
    if kind == "date":
        return abs(seconds(expected) - seconds(found)) < 2e-6 * max(1, abs(seconds(found)) / 1e9)
    if kind == "decimal":
        return decimal.Decimal(expected) == decimal.Decimal(str(found))
    if kind == "float":
        return struct.pack("<f", expected) == struct.pack("<f", float(found))
    if kind == "double":
        return float(expected) == float(found)
    if kind == "bool":
        return expected == bool(found)
    # A transformable comes as its text, where it is one.
    return kind == "transformable" or expected == found


class Check:
    def __init__(self, tool, folder, seed):
        self.tool, self.folder, self.faults = tool, folder, []
        self.store = Store("random", json.loads(json.dumps(Description(seed).said)))
        self.store.make(folder)
        self.mirrors_all = all(one.mirrored for entity in self.store.model.by_number for one in entity.own if one.is_relationship)

    def path(self, end):
        return os.path.join(self.folder, "random" + end)

    def heartwood(self, *arguments):
        code, text, error = run(self.tool, *arguments)
        if code:
            self.faults.append(f"{' '.join(arguments[:1])}: {code} {error} {text[-300:]}")
        return text

    def lines(self, file):
        return sorted(self.heartwood("export", file, "--all").splitlines())

    def run(self):
        file, log = self.path(".sqlite"), self.path(".heartwood")
        lines = self.lines(file)
        self.compare({name(one["@id"]): one for one in map(json.loads, lines)})
        self.heartwood("verify", file)
        self.heartwood("convert", file, "-o", log)
        self.heartwood("verify", log)
        if self.lines(log) != lines:
            self.faults.append("the converted store has other objects")
        for source, written in ((file, self.path("-1.sqlite")), (log, self.path("-2.sqlite"))):
            self.heartwood("export", source, "--format", "sqlite", "-o", written, "--model", file)
            if self.lines(written) != lines:
                self.faults.append("the written store has other objects")
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_written.py")
            code, text, error = run(sys.executable, script, file, written)
            # Pairs of a relationship that is its own inverse are written in both directions.
            allowed = ALLOWED if self.mirrors_all else ALLOWED + ("pairs",)
            self.faults += [line for line in text.splitlines() if not line.startswith(allowed)] + ([error] if code else [])
        return self.faults

    def compare(self, found):
        with open(self.path(".jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file][1:]
        if len(lines) != len(found):
            self.faults.append(f"{len(found)} objects, {len(lines)} expected")
        for line in lines:
            one = f"{line['entity']}/{line['pk']}"
            entity, values = self.store.model.entities[line["entity"]], found.get(one, {})
            kinds = dict(leaf for each in entity.properties if not each.is_relationship for leaf in each.leaves())
            for path, expected in line["attributes"].items():
                if not is_same(expected, values.get(path), kinds[path].type):
                    self.faults.append(f"{one}.{path}: {values.get(path)!r}, {expected!r} expected")
            for relationship, expected in line["relationships"].items():
                self.compare_members(one, entity.find(relationship), values, expected, found)

    def compare_members(self, one, relationship, values, expected, found):
        members = values.get(relationship.name)
        if members is None:
            # The export leaves out one of two sides.
            if expected and not all(relationship.inverse in found.get(other, {}) for other in expected):
                self.faults.append(f"{one}.{relationship.name} is missing")
            return
        names = [name(member["@id"]) for member in (members if isinstance(members, list) else [members])]
        if (names if relationship.ordered else sorted(names)) != (expected if relationship.ordered else sorted(expected)):
            self.faults.append(f"{one}.{relationship.name}: {names}, {expected} expected")


def main(arguments):
    if len(arguments) != 3:
        print(__doc__)
        return False
    count, faults = 0, 0
    for seed in range(int(arguments[1]), int(arguments[1]) + int(arguments[2])):
        with tempfile.TemporaryDirectory() as folder:
            try:
                check = Check(arguments[0], folder, seed)
            except Exception:
                # The maker has no names for some models' join tables, and no place for a second value.
                continue
            found = check.run()
            count, faults = count + 1, faults + len(found)
            for fault in found[:5]:
                print(f"seed {seed}: {fault}"[:500], flush=True)
    print(f"{count} stores, {faults} differences")
    return not faults


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
