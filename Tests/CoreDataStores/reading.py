"""Reads the objects of a store by its layout, as lines for EXPECTED.jsonl: a check of the layout and of the maker."""
import base64, datetime, decimal, os, uuid

EPOCH = datetime.datetime(2001, 1, 1)


def date_text(seconds):
    """A date in UTC with microseconds, or its seconds since 2001 where the calendar ends."""
    try:
        return (EPOCH + datetime.timedelta(seconds=seconds)).isoformat(timespec="microseconds") + "Z"
    except OverflowError:
        return f"{float(seconds)!r} s"


def decimal_text(number):
    """A decimal is stored as a double; a whole one as an integer."""
    return f"{decimal.Decimal(repr(number)).normalize():f}"


def value(stored, attribute, support):
    """A column's value as JSON. `support` is the folder of external data."""
    if stored is None:
        return None
    if attribute.external:
        stored = external(stored, support)
    kind = attribute.type
    if kind == "bool":
        return bool(stored)
    if kind in ("double", "float"):
        return float(stored)
    if kind == "date":
        return date_text(stored)
    if kind == "decimal":
        return decimal_text(stored)
    if kind == "uuid":
        return str(uuid.UUID(bytes=stored)).upper()
    if kind in ("data", "transformable") and isinstance(stored, bytes):
        return base64.b64encode(stored).decode()
    return stored


def external(stored, support):
    """The bytes behind the tag. Facts: "external"."""
    if stored[:1] == b"\1":
        return stored[1:]
    assert stored[:1] == b"\2" and len(stored) == 38, "the tag of an external value is wrong"
    name = stored[1:37].decode()
    path = os.path.join(support, "_EXTERNAL_DATA", name)
    if not os.path.exists(path):
        return {"missing": name}
    with open(path, "rb") as file:
        return file.read()


def in_order(relationship, names):
    """A list as it is, a set by entity and key."""
    return names if relationship.ordered else sorted(names, key=lambda name: (name.split("/")[0], int(name.split("/")[1])))


class Reader:
    def __init__(self, base, layout, support):
        self.base, self.layout, self.model, self.support = base, layout, layout.model, support
        self.by_number = {one.number: one for one in self.model.entities.values()}
        self.rows, self.names = {}, {}
        for root, table in layout.tables.items():
            cursor = base.execute(f"select * from {table.name}")
            keys = [column[0] for column in cursor.description]
            self.rows[root] = {row[0]: dict(zip(keys, row)) for row in cursor}
        self.joins = {one: self.read_join(one) for one in layout.joins}

    def read_join(self, join):
        cursor = self.base.execute(f"select * from {join.name}")
        keys = [column[0] for column in cursor.description]
        return [dict(zip(keys, row)) for row in cursor]

    def named(self, entity, key):
        """Entity/key of a row, or None for a reference to no row."""
        row = self.rows[entity.root].get(key)
        return f"{self.by_number[row['Z_ENT']].name}/{key}" if row else None

    def objects(self):
        for entity in sorted(self.by_number.values(), key=lambda one: one.name):
            for key, row in sorted(self.rows[entity.root].items()):
                if row["Z_ENT"] == entity.number:
                    yield self.line(entity, key, row)

    def line(self, entity, key, row):
        attributes, relationships = {}, {}
        for one in entity.properties:
            if not one.is_relationship:
                for path, leaf in one.leaves():
                    attributes[path] = value(row[self.layout.column(entity, path)], leaf, self.support)
            elif not one.transient:
                relationships[one.name] = self.targets(entity, one, key, row)
        return {"attributes": attributes, "entity": entity.name, "pk": key, "relationships": relationships}

    def targets(self, entity, one, key, row):
        owner, destination = entity.owner(one.name), self.model.entities[one.to]
        if not one.many:
            found = row[self.layout.column(entity, one.name)]
            return [name for name in [self.named(destination, found)] if name] if found is not None else []
        if (owner, one.name) in self.layout.join_of:
            pairs = self.joined(owner, one, key)
        else:
            pairs = self.children(owner, one, key, destination)
        names = [self.named(destination, found) for _, found in sorted(pairs)]
        return in_order(one, [name for name in names if name])

    def children(self, owner, one, key, destination):
        """The order key, or else the key itself, of each row that refers to an owner."""
        inverse, order = self.model.inverse(one), self.layout.order_columns.get((owner, one.name))
        column = self.layout.column(destination, inverse.name) if inverse else self.layout.columns[owner, one.name]
        rows = self.rows[destination.root].values()
        return {(row[order] if order else row["Z_PK"], row["Z_PK"]) for row in rows if row[column] == key}

    def joined(self, owner, one, key):
        join, column = self.layout.join_of[owner, one.name]
        other = join.first if column == join.second else join.second
        order = self.layout.order_columns.get((owner, one.name))
        found = {(row[order] if order else row[column], row[column]) for row in self.joins[join] if row[other] == key}
        if other == "REFLEXIVE":
            found |= {(row[order] if order else row[other], row[other]) for row in self.joins[join] if row[column] == key}
        return found
