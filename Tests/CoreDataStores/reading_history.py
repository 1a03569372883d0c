"""Reads the history of a store, as lines for EXPECTED-history.jsonl."""
from reading import date_text, value

TEXTS = {"author": "ZAUTHOR", "bundleID": "ZBUNDLEID", "contextName": "ZCONTEXTNAME", "processID": "ZPROCESSID"}
KINDS = ["insert", "update", "delete"]


def rows(base, table):
    cursor = base.execute(f"select * from {table} order by Z_PK")
    keys = [column[0] for column in cursor.description]
    return [dict(zip(keys, row)) for row in cursor]


def has_table(base, table):
    return base.execute("select 1 from sqlite_master where name = ?", (table,)).fetchone() is not None


def transactions(base, layout):
    strings = {row["Z_PK"]: row["ZNAME"] for row in rows(base, "ATRANSACTIONSTRING")} if has_table(base, "ATRANSACTIONSTRING") else {}
    changes = {}
    for row in rows(base, "ACHANGE"):
        changes.setdefault(row["ZTRANSACTIONID"], []).append(change(row, layout))
    for row in rows(base, "ATRANSACTION"):
        texts = {name: strings.get(row.get(column + "TS"), row[column]) for name, column in TEXTS.items()}
        yield {**texts, "changes": changes.get(row["Z_PK"], []), "date": date_text(row["ZTIMESTAMP"]), "transaction": row["Z_PK"]}


def change(row, layout):
    entity = next(one for one in layout.model.entities.values() if one.number == row["ZENTITY"])
    found = {"change": row["Z_PK"], "object": f"{entity.name}/{row['ZENTITYPK']}", "type": KINDS[row["ZCHANGETYPE"]]}
    if found["type"] == "update":
        found.update(updated(layout, entity, row["ZCOLUMNS"] or b""))
    if found["type"] == "delete":
        values = {path: row.get(f"ZTOMBSTONE{place}") for place, path in enumerate(layout.preserved(entity))}
        found["tombstone"] = {path: value(one, leaf_of(entity, path), None) for path, one in values.items() if one is not None}
    return found


def leaf_of(entity, path):
    return dict(entity.find(path.split(".")[0]).leaves())[path]


def updated(layout, entity, bits):
    """The names whose bits are set, and how many bits of to-manys are: nobody knows the order of those."""
    names = [name for place, name in enumerate(layout.slots(entity)) if place // 8 < len(bits) and bits[place // 8] >> (7 - place % 8) & 1]
    # A member whose place in its owner's list changes has not changed itself.
    bare = {name.split(" ")[0] for name in names if not name.endswith(" order")}
    many = {one.name for one in entity.properties if one.is_relationship and one.many}
    return {"toManyBits": len(bare & many), "updated": sorted(bare - many)}
