"""Examines a made store: by SQLite, and by the reader that real stores check."""
import json, os, shutil, sqlite3, tempfile

import cached_model
from layout import Layout
from reading import Reader
from reading_history import has_table, transactions


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def examine(store, folder):
    """The faults of a store in a folder."""
    path = os.path.join(folder, f"{store.name}.sqlite")
    with tempfile.TemporaryDirectory() as work:
        for end in ("", "-wal"):
            if os.path.exists(path + end):
                shutil.copy(path + end, os.path.join(work, "store" + end))
        base = sqlite3.connect(os.path.join(work, "store"))
        try:
            found = [row[0] for row in base.execute("PRAGMA integrity_check") if row[0] != "ok"]
            if not store.refused and not store.may_refuse:
                found += compare(store, base, folder)
        finally:
            base.close()
    return found


def compare(store, base, folder):
    layout = layout_of(store, base)
    support = os.path.join(folder, f".{store.name}_SUPPORT")
    expected, found = lines(os.path.join(folder, f"{store.name}.jsonl"))[1:], list(Reader(base, layout, support).objects())
    faults = [f"{left} is not {right}" for left, right in zip(found, expected) if left != right]
    if len(found) != len(expected):
        faults.append(f"{len(found)} objects, {len(expected)} expected")
    if has_table(base, "ACHANGE"):
        history, wanted = list(transactions(base, layout)), lines(os.path.join(folder, f"{store.name}-history.jsonl"))
        faults += [f"{left} is not {right}" for left, right in zip(history, wanted) if left != right]
        if len(history) != len(wanted):
            faults.append("the number of transactions differs")
    return faults


def layout_of(store, base):
    """From the cache in the file, so that this is read too; otherwise from the description."""
    row = base.execute("select Z_CONTENT from Z_MODELCACHE").fetchone() if has_table(base, "Z_MODELCACHE") else None
    if not row or store.options["configuration"]:
        return store.layout
    model = cached_model.read(row[0], {one.name: one.number for one in store.model.by_number})
    for entity in store.model.by_number:
        for one in entity.own:
            if one.is_relationship:
                model.entities[entity.name].find(one.name).names_table = one.names_table
    return Layout(model)
