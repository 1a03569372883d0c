"""Writes the history of a store, and the lines that a reader has to find in it."""
from reading import date_text
from reading_history import KINDS, TEXTS, leaf_of
from values import Values, plain, expanded

TABLES = {
    "ACHANGE": "ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB",
    "ATRANSACTION": "ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, "
                    "ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB",
    "ATRANSACTIONSTRING": "ZNAME VARCHAR",
}
# Framework 851 has texts in the transactions.
OLD = "ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB"
NUMBERS = {"ACHANGE": 16001, "ATRANSACTION": 16002, "ATRANSACTIONSTRING": 16003}


class HistoryWriter:
    def __init__(self, base, layout, transactions, old):
        self.base, self.layout, self.transactions, self.old = base, layout, transactions, old
        self.strings, self.change_count, self.lines = {}, 0, []

    def write(self):
        tombstones = max(len(self.layout.preserved(one)) for one in self.layout.model.entities.values())
        for name, columns in TABLES.items():
            if name == "ACHANGE":
                columns += "".join(f", ZTOMBSTONE{place} BLOB" for place in range(tombstones))
            if self.old and name != "ACHANGE":
                columns = OLD
            if not self.old or name != "ATRANSACTIONSTRING":
                self.base.execute(f"CREATE TABLE {name} ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, {columns} )")
        for place, one in enumerate(self.transactions):
            self.transaction(place + 1, one)
        self.indexes()

    def indexes(self):
        keys = {"ACHANGE": ["ZTRANSACTIONID"], "ATRANSACTION": [] if self.old else [column + "TS" for column in TEXTS.values()]}
        for table, columns in keys.items():
            for one in columns:
                self.base.execute(f"CREATE INDEX {table}_{one}_INDEX ON {table} ({one})")
        index = "Z_TRANSACTION_TransactionTimestampIndex"
        self.base.execute(f"CREATE INDEX {index} ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)")

    def insert(self, table, row):
        row = {"Z_ENT": NUMBERS[table], **row}
        self.base.execute(f"insert into {table} ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))

    def string(self, text):
        """The key of a text, which is written once."""
        if text is not None and text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.insert("ATRANSACTIONSTRING", {"Z_PK": self.strings[text], "ZNAME": text})
        return self.strings.get(text)

    def transaction(self, key, said):
        texts = {name: said.get(name) for name in TEXTS}
        if self.old:
            columns = {column: texts[name] for name, column in TEXTS.items()}
        else:
            columns = {column + "TS": self.string(texts[name]) for name, column in TEXTS.items()}
        self.insert("ATRANSACTION", {"Z_PK": key, **columns, "ZTIMESTAMP": said["date"]})
        changes = [self.change(key, one) for one in said["changes"]]
        self.lines.append({**texts, "changes": changes, "date": date_text(said["date"]), "transaction": key})

    def change(self, transaction, said):
        kind = next(one for one in KINDS if one in said)
        entity, key = said[kind].split("/")
        entity = self.layout.model.entities[entity]
        self.change_count += 1
        row = {
            "Z_PK": self.change_count, "ZCHANGETYPE": KINDS.index(kind), "ZENTITY": entity.number, "ZENTITYPK": int(key),
            "ZTRANSACTIONID": transaction}
        line = {"change": self.change_count, "object": said[kind], "type": kind}
        if kind == "update":
            row["ZCOLUMNS"] = self.bits(entity, said["columns"])
            many = {one.name for one in entity.properties if one.is_relationship and one.many}
            bare = {name for name in said["columns"] if not name.endswith(" order")}
            line.update(toManyBits=len(bare & many), updated=sorted(bare - many))
        if kind == "delete":
            row.update(self.tombstone(entity, said.get("tombstone", {}), line))
        self.insert("ACHANGE", row)
        return line

    def bits(self, entity, names):
        """ZCOLUMNS. The key of a destination's entity changes with the key."""
        slots = self.layout.slots(entity)
        assert set(names) <= set(slots), f"{entity.name} has only {slots}"
        found = bytearray((len(slots) + 7) // 8)
        for place, name in enumerate(slots):
            if name in names or name.endswith(" entity") and name.split(" ")[0] in names:
                found[place // 8] |= 0x80 >> place % 8
        return bytes(found)

    def tombstone(self, entity, said, line):
        columns, paths, values = {}, self.layout.preserved(entity), Values("")
        line["tombstone"] = {}
        for path, value in said.items():
            leaf = leaf_of(entity, path)
            columns[f"ZTOMBSTONE{paths.index(path)}"] = plain(expanded(value), leaf.type)
            line["tombstone"][path] = values.expected(value, leaf, "")
        return columns
