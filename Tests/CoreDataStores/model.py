"""A model: entities, properties and the numbers that a store gives to entities."""

# The attribute types with the numbers of NSAttributeType and the words of SQL. Facts: "property bits", "types".
TYPES = {
    "int16": (100, "INTEGER"), "int32": (200, "INTEGER"), "int64": (300, "INTEGER"), "decimal": (400, "DECIMAL"), "double": (500, "FLOAT"),
    "float": (600, "FLOAT"), "string": (700, "VARCHAR"), "bool": (800, "INTEGER"), "date": (900, "TIMESTAMP"), "data": (1000, "BLOB"),
    "uuid": (1100, "BLOB"), "uri": (1200, "VARCHAR"), "transformable": (1800, "BLOB"), "composite": (2100, None),
}
RULES = {"none": 0, "nullify": 1, "cascade": 2, "deny": 3}
BOOKKEEPING = {"CHANGE": 16001, "TRANSACTION": 16002, "TRANSACTIONSTRING": 16003}


class Attribute:
    is_relationship = False

    def __init__(self, name, said):
        said = {"type": said} if isinstance(said, str) else dict(said)
        self.name, self.type = name, said.pop("type", "string")
        self.optional, self.transient = said.pop("optional", True), said.pop("transient", False)
        self.external, self.preserved = said.pop("external", False), said.pop("preserved", False)
        self.default, self.derived, self.was = said.pop("default", None), said.pop("derived", None), said.pop("was", None)
        self.elements = [Attribute(key, value) for key, value in said.pop("elements", {}).items()]
        known(said, f"attribute {name}")
        assert self.type in TYPES, f"attribute {name} has the unknown type {self.type}"

    def leaves(self, prefix=""):
        """The attributes that have columns, with their paths. The elements of a composite are in the order of their names."""
        if self.type != "composite":
            return [] if self.transient else [(prefix + self.name, self)]
        elements = sorted(self.elements, key=lambda one: one.name)
        return [] if self.transient else [leaf for one in elements for leaf in one.leaves(f"{prefix}{self.name}.")]


class Relationship:
    is_relationship, transient = True, False

    def __init__(self, name, said):
        said = {"to": said} if isinstance(said, str) else dict(said)
        self.name, self.to, self.inverse = name, said.pop("to"), said.pop("inverse", None)
        self.many, self.ordered = said.pop("many", False), said.pop("ordered", False)
        self.optional, self.transient = said.pop("optional", True), said.pop("transient", False)
        self.least, self.most = said.pop("min", 0), said.pop("max", 0 if self.many else 1)
        self.rule, self.was = RULES[said.pop("rule", "nullify")], said.pop("was", None)
        # The join table has this side's name, although the other side comes first.
        self.names_table = said.pop("namesTable", False)
        # A relationship that is its own inverse has one row a pair, or one in each direction.
        self.mirrored = said.pop("mirrored", True)
        known(said, f"relationship {name}")


class Entity:
    def __init__(self, name, said):
        said = dict(said)
        self.name, self.parent_name, self.abstract = name, said.pop("super", None), said.pop("abstract", False)
        # After a migration that renames an entity, Z_PRIMARYKEY may still have the old name.
        self.was, self.stored_name = said.pop("was", None), said.pop("stored", name)
        self.unique, self.indexes = said.pop("unique", []), said.pop("indexes", {})
        self.own = [Attribute(*pair) for pair in said.pop("attributes", {}).items()]
        self.own += [Relationship(*pair) for pair in said.pop("relationships", {}).items()]
        self.own.sort(key=lambda one: one.name)
        self.parent, self.number, self.children = None, None, []
        known(said, f"entity {name}")

    @property
    def line(self):
        """The ancestors, the root first, and the entity."""
        return (self.parent.line if self.parent else []) + [self]

    @property
    def root(self):
        return self.line[0]

    @property
    def branch(self):
        """The entity and its descendants by number."""
        found = [self] + [one for child in self.children for one in child.branch]
        return sorted(found, key=lambda one: one.number)

    @property
    def properties(self):
        return [one for entity in self.line for one in entity.own]

    def find(self, name):
        return next(one for one in self.properties if one.name == name)

    def owner(self, name):
        return next(one for one in self.line if any(own.name == name for own in one.own))

    def is_kind(self, other):
        return other in self.line


class Model:
    def __init__(self, entities, numbers=None):
        self.entities = {one.name: one for one in entities}
        for one in entities:
            one.parent = self.entities[one.parent_name] if one.parent_name else None
            if one.parent:
                one.parent.children.append(one)
        for name, number in (numbers or self.computed_numbers()).items():
            self.entities[name].number = number

    @staticmethod
    def described(entities):
        return Model([Entity(*pair) for pair in entities.items()])

    def computed_numbers(self):
        """By name without regard to case, a hierarchy depth first. Facts: "Z_PRIMARYKEY"."""
        names = []

        def visit(entities):
            for one in sorted(entities, key=lambda one: (one.name.upper(), one.name)):
                names.append(one.name)
                visit(one.children)
        visit([one for one in self.entities.values() if not one.parent])
        return {name: place + 1 for place, name in enumerate(names)}

    @property
    def by_number(self):
        return sorted(self.entities.values(), key=lambda one: one.number)

    def inverse(self, relationship):
        return self.entities[relationship.to].find(relationship.inverse) if relationship.inverse else None


def known(rest, owner):
    assert not rest, f"{owner} has the unknown keys {', '.join(rest)}"
