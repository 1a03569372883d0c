"""The tables that a model gets in a store.

(1) A hierarchy has one table, named after its root.
(2) A name in capitals that several properties of a table have gets digits: 1 for the second, and so on. The order is that of the
    entities' numbers, then of the properties' names; the leaves of a composite stand at the composite's place.
(3) A to-one relationship whose destination has subentities has a second column for the destination's entity number.
(4) A to-many relationship without an inverse is a column of the destination's table, whose name has the owner's number.
(5) A column of a join table has the number of the entity whose keys it holds. Its name is unique among the join tables of a store.
(6) A relationship that is its own inverse has a second column with the name REFLEXIVE.
(7) A list's order is a column Z_FOK_ beside the column of its owner, or of its members in a join table.
README.md says where these rules come from.
"""
from model import TYPES

# The order of a table's columns: keys of order come behind all integers, dates stand among doubles, data come last.
INTEGERS, KEYS, ENTITY_KEYS, ORDER_KEYS, OTHERS = 0, 1, 2, 9, 10
GROUPS = {"date": 10, "double": 10, "float": 10, "decimal": 11, "string": 12, "uri": 13, "uuid": 14, "transformable": 15, "data": 16}


class Join:
    """A join table. `forward` is the relationship that it is named after, `first` the column of that one's owner."""
    def __init__(self, name, forward, owner, first, second):
        self.name, self.forward, self.owner, self.first, self.second, self.orders = name, forward, owner, first, second, []

    @property
    def sql(self):
        columns = ", ".join(f"{one} INTEGER" for one in [self.first, self.second] + self.orders)
        return f"CREATE TABLE {self.name} ( {columns}, PRIMARY KEY ({self.first}, {self.second}) )"

    @property
    def indexes(self):
        return {f"{self.name}_{self.second}_INDEX": f"CREATE INDEX {self.name}_{self.second}_INDEX ON {self.name} ({self.second}, {self.first})"}


class Table:
    def __init__(self, root):
        # The type and the place in the order of each column.
        self.root, self.name, self.columns, self.keys = root, "Z" + root.name.upper(), {}, []

    def claim(self, name, entity, type="INTEGER", group=INTEGERS):
        found, count = name, 0
        while found in self.columns:
            count += 1
            found = f"{name}{count}"
        # The integers of an entity stand together, and its keys follow them.
        within = (0, entity.number, group) if group < ORDER_KEYS else (group, entity.number)
        self.columns[found] = (type, within)
        return found

    def ordered(self):
        return [(name, type) for name, (type, _) in sorted(self.columns.items(), key=lambda pair: pair[1][1])]

    def sql(self, constraints=()):
        columns = [("Z_PK", "INTEGER PRIMARY KEY"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")] + self.ordered()
        parts = [f"{name} {type}" for name, type in columns]
        end = ", " + ", ".join(constraints) if constraints else " "
        return f"CREATE TABLE {self.name} ( {', '.join(parts)}{end})"


class Layout:
    def __init__(self, model, old=False):
        # Old stores have uniqueness constraints in their tables' statements.
        self.model, self.old, self.tables, self.joins = model, old, {}, []
        # The columns of an entity's own properties: (entity, path) for attributes, (entity, name) for relationships.
        self.columns, self.entity_columns, self.order_columns, self.join_of = {}, {}, {}, {}
        self.taken = set()
        for entity in model.by_number:
            if not entity.parent:
                self.tables[entity] = Table(entity)
        for entity in model.by_number:
            self.add_own(entity)
        for entity in model.by_number:
            for one in entity.own:
                if one.is_relationship and one.many and not one.transient:
                    self.add_many(entity, one)

    def table(self, entity):
        return self.tables[entity.root]

    def add_own(self, entity):
        """Rules 1 to 3."""
        table = self.table(entity)
        for one in entity.own:
            if not one.is_relationship:
                for path, leaf in one.leaves():
                    type, group = TYPES[leaf.type][1], GROUPS.get(leaf.type, INTEGERS)
                    self.columns[entity, path] = table.claim("Z" + leaf.name.upper(), entity, type, group)
            elif not one.many and not one.transient:
                self.columns[entity, one.name] = table.claim("Z" + one.name.upper(), entity, group=KEYS)
        for one in entity.own:
            if one.is_relationship and not one.many and not one.transient:
                self.add_one(entity, one)

    def add_one(self, entity, one):
        table, column, inverse = self.table(entity), self.columns[entity, one.name], self.model.inverse(one)
        destination = self.model.entities[one.to]
        table.keys.append(column)
        if destination.children:
            self.entity_columns[entity, one.name] = table.claim(
                f"Z{destination.number}_{one.name.upper()}", entity, group=ENTITY_KEYS)
        if inverse and inverse.many and inverse.ordered:
            order = table.claim(f"Z_FOK_{one.name.upper()}", entity, group=ORDER_KEYS)
            self.order_columns[destination.owner(inverse.name), inverse.name] = order

    def add_many(self, entity, one):
        """Rules 4 to 7."""
        inverse, destination = self.model.inverse(one), self.model.entities[one.to]
        if inverse and inverse.many:
            if (entity, one.name) not in self.join_of:
                self.add_join(entity, one, inverse, destination)
        elif not inverse:
            table = self.table(destination)
            self.columns[entity, one.name] = column = table.claim(
                f"Z{entity.number}{one.name.upper()}", destination, group=KEYS)
            table.keys.append(column)
            if one.ordered:
                self.order_columns[entity, one.name] = table.claim(f"Z_FOK_{column[1:]}", destination, group=ORDER_KEYS)

    def unique(self, name):
        """Rule 5."""
        found, count = name, 0
        while found in self.taken:
            count += 1
            found = f"{name}{count}"
        self.taken.add(found)
        return found

    def add_join(self, entity, one, inverse, destination):
        owner = destination.owner(inverse.name)
        if inverse.names_table and inverse is not one:
            one, inverse, entity, owner = inverse, one, owner, entity
        source, destination = self.model.entities[inverse.to], self.model.entities[one.to]
        second = self.unique(f"Z_{destination.number}{one.name.upper()}")
        first = "REFLEXIVE" if inverse is one else self.unique(f"Z_{source.number}{inverse.name.upper()}")
        columns = (second, first) if inverse is one else (first, second)
        join = Join(f"Z_{entity.number}{one.name.upper()}", one, entity, *columns)
        self.joins.append(join)
        sides = [(entity, one, second)] + ([(owner, inverse, first)] if inverse is not one else [])
        for side, relationship, column in sides:
            self.join_of[side, relationship.name] = (join, column)
            if relationship.ordered:
                self.order_columns[side, relationship.name] = order = f"Z_FOK_{column[2:]}"
                join.orders.append(order)

    def table_sql(self, table):
        found = []
        for entity in table.root.branch if self.old else []:
            for names in entity.unique:
                columns = [self.column(entity, one) for one in names]
                found.append(f"CONSTRAINT {'_'.join(columns)} UNIQUE ({', '.join(columns)})")
        return table.sql(found)

    # Indexes. Facts: "indexes".
    def indexes(self, table):
        found = {f"{table.name}_{key}_INDEX": f"({key})" for key in table.keys}
        if table.root.children:
            found[f"{table.name}_Z_ENT_INDEX"] = "(Z_ENT)"
        statements = {name: f"CREATE INDEX {name} ON {table.name} {keys}" for name, keys in found.items()}
        for entity in table.root.branch:
            for names in [] if self.old else entity.unique:
                name = f"Z_{entity.name}_UNIQUE_{'_'.join(names)}"
                statements[name] = f"CREATE UNIQUE INDEX {name} ON {table.name} ({self.terms(entity, names)})"
            for name, names in entity.indexes.items():
                # A relationship has its own index, if it has a column.
                if len(names) == 1 and entity.find(names[0].lstrip("-").split(".")[0]).is_relationship:
                    continue
                name = f"Z_{entity.name}_{name}"
                statements[name] = f"CREATE INDEX {name} ON {table.name} ({self.terms(entity, names)})"
        return statements

    def terms(self, entity, names):
        """A minus sign stands before the names of properties in descending order."""
        return ", ".join(f"{self.column(entity, one.lstrip('-'))} COLLATE BINARY {'DESC' if one[0] == '-' else 'ASC'}" for one in names)

    def column(self, entity, path):
        """The column of a property that an entity has or inherits."""
        owner = entity.owner(path.split(".")[0])
        return self.columns[owner, path]

    # History. Facts: "ZCOLUMNS", "tombstones".
    def slots(self, entity):
        """The names of an entity's properties by the bits of ZCOLUMNS. Keys beside a to-one have its name; nobody has seen the order of 5."""
        groups = [[], [], [], [], []]
        for owner in entity.line:
            for one in owner.own:
                if not one.is_relationship:
                    groups[3] += [path for path, _ in one.leaves()]
                elif one.many and not one.transient:
                    groups[4].append(one.name)
                elif not one.transient:
                    self.add_slots(owner, one, groups)
        return [name for group in groups for name in group]

    def add_slots(self, owner, one, groups):
        groups[0].append(one.name)
        if (owner, one.name) in self.entity_columns:
            groups[1].append(one.name + " entity")
        inverse = self.model.inverse(one)
        if inverse and inverse.many and inverse.ordered:
            groups[2].append(one.name + " order")

    @staticmethod
    def preserved(entity):
        """The paths of the attributes whose last values tombstones have."""
        attributes = [one for one in entity.properties if not one.is_relationship and one.preserved]
        return [path for one in attributes for path, _ in one.leaves()]
