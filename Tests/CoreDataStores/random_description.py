"""A description of a store, of a seed: entities with inheritance, attributes of every type, relationships of every kind, objects.

Names are few, so that columns of one table need digits, and the two sides of a relationship often have one name. Values are null, empty,
short, long and at the ends of their types.
"""
import random, uuid

ENTITIES = ["Person", "person2", "Group", "Animal", "Dog", "zebra", "Äpfel", "Item", "Tag", "Node", "A_1"]
PROPERTIES = [
    "id", "name", "Name", "title", "parent", "items", "owner", "tags", "url", "x", "note2", "a_b", "größe", "isOld", "date", "data1",
    "data", "count"]
TYPES = ["int16", "int32", "int64", "decimal", "double", "float", "string", "bool", "date", "data", "uuid", "uri", "transformable"]
USUAL = {
    "decimal": ["0", "1", "-1", "0.1", "123456789.25", "-99999999.99", "1e20", "1e-10"],
    "double": [0.0, 1.0, -1.5, 1e300, 5e-324, 123456.0, -0.0], "float": [0.0, 1.0, -1.5, 0.1, 1e-45, 3.25, 16777216.0],
    "date": [0, 1, 700000000.25, -62135596800, 64092211200, 86400.125], "uri": ["https://a.example/", "urn:a", "a", "https://b.example/%20x?y=1#z"],
    "data": [{"hex": ""}, {"hex": "00"}, {"hex": "000102ff"}, {"repeat": "01234", "count": 100}, {"repeat": "01234", "count": 5000}],
    "transformable": [{"archive": ["a", "b"]}, {"archive": ""}, {"archive": "é" * 300}],
    "string": ["", "a", "é", "𝒳", "\0x", "日本語", "\u202e", "\n", "x" * 480, "y" * 5000], "bool": [True, False],
}


class Description:
    def __init__(self, seed):
        self.random, self.entities, self.objects, self.relationships = random.Random(seed), {}, {}, []
        names = self.random.sample(ENTITIES, self.random.randrange(1, 7))
        for place, name in enumerate(names):
            self.entities[name] = {"attributes": {}, "relationships": {}}
            if place and self.chance(0.5):
                self.entities[name]["super"] = self.random.choice(names[:place])
            if self.chance(0.1):
                self.entities[name]["abstract"] = True
        self.used = {name: set() for name in names}
        for name in names:
            self.add_attributes(name)
        for _ in range(self.random.randrange(8)):
            self.add_relationship()
        self.add_objects()
        for owner, name in self.relationships:
            self.connect(owner, name)
        store = {"pageSize": self.random.choice([512, 1024, 4096, 8192, 65536]), "cache": True}
        store["encoding"] = self.random.choice(["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"])
        if self.chance(0.2):
            store["log"] = "all"
        self.said = {"says": f"The seed {seed}.", "entities": self.entities, "objects": self.objects, "store": store}

    def chance(self, part):
        return self.random.random() < part

    def line(self, name):
        """An entity and those above it."""
        above = self.entities[name].get("super")
        return [name] + (self.line(above) if above else [])

    def kinds(self, name):
        return [other for other in self.entities if name in self.line(other)]

    def free_name(self, entity):
        """A name that no entity of the line above and below has; None if all are used."""
        taken = set().union(*(self.used[other] for other in set(self.line(entity)) | set(self.kinds(entity))))
        free = [name for name in PROPERTIES if name not in taken]
        if not free:
            return None
        name = self.random.choice(free)
        self.used[entity].add(name)
        return name

    def add_attributes(self, entity):
        for _ in range(self.random.randrange(5)):
            name = self.free_name(entity)
            if not name:
                return
            attribute = {"type": self.random.choice(TYPES)}
            if self.chance(0.1):
                leaves = self.random.sample(["id", "x", "name", "q"], self.random.randrange(1, 4))
                attribute = {"type": "composite", "elements": {leaf: self.random.choice(TYPES[:-1]) for leaf in leaves}}
            elif attribute["type"] in ("data", "transformable") and self.chance(0.4):
                attribute["external"] = True
            self.entities[entity]["attributes"][name] = attribute

    def many(self, part):
        if not self.chance(part):
            return {}
        return {"many": True, "ordered": True} if self.chance(0.35) else {"many": True}

    def add_relationship(self):
        owner, to = (self.random.choice(list(self.entities)) for _ in range(2))
        name, kind = self.free_name(owner), self.random.random()
        if not name:
            return
        said = {"to": to, **self.many(0.6)}
        if 0.15 <= kind < 0.3 and owner == to and not said.get("ordered"):
            said["inverse"] = name
        elif kind >= 0.15:
            # Both sides may have one name if no entity inherits from both.
            related = set(self.line(owner)) | set(self.kinds(owner))
            isFree = to not in related and not any(name in self.used[one] for one in set(self.line(to)) | set(self.kinds(to)))
            inverse = name if isFree and self.chance(0.3) else self.free_name(to)
            # Names of one entity that differ by their case alone: nobody knows which of them names the table.
            if inverse and not (to in related and inverse.upper() == name.upper()):
                self.used[to].add(inverse)
                said["inverse"] = inverse
                self.entities[to]["relationships"][inverse] = {"to": owner, "inverse": name, **self.many(0.6)}
        self.entities[owner]["relationships"][name] = said
        self.relationships.append((owner, name))

    # Objects.
    def value(self, kind):
        if self.chance(0.25):
            return None
        if kind.startswith("int"):
            end = 2 ** (int(kind[3:]) - 1)
            return self.random.choice([0, 1, -1, end - 1, -end, 127, 128, -128, self.random.randrange(-end, end)])
        if kind == "uuid":
            return str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        return self.random.choice(USUAL[kind])

    def add_objects(self):
        last = {}
        for name in self.entities:
            if self.entities[name].get("abstract"):
                continue
            root = self.line(name)[-1]
            for _ in range(self.random.choice([0, 1, 2, 5])):
                last[root] = last.get(root, 0) + self.random.choice([1, 1, 3])
                values = {}
                for owner in self.line(name):
                    for attribute, said in self.entities[owner]["attributes"].items():
                        self.add_values(attribute, said, values)
                if self.chance(0.15):
                    values["$logged"] = True
                self.objects[f"{name}/{last[root]}"] = values

    def add_values(self, attribute, said, values):
        if said["type"] == "composite":
            for leaf, kind in said["elements"].items():
                values[f"{attribute}.{leaf}"] = self.value(kind)
        else:
            value = self.value(said["type"])
            values[attribute] = {"file": value} if value is not None and said.get("external") and self.chance(0.3) else value

    def of_kind(self, name):
        return [one for one in self.objects if name in self.line(one.split("/")[0])]

    def connect(self, owner, name):
        """Gives objects destinations; one that has a single place is given once."""
        said = self.entities[owner]["relationships"][name]
        inverse = self.entities[said["to"]]["relationships"].get(said.get("inverse"))
        is_itself, taken = said["to"] == owner and said.get("inverse") == name, set()
        is_single = not inverse.get("many") if inverse else said.get("many")
        for one in self.of_kind(owner):
            targets = self.of_kind(said["to"])
            self.random.shuffle(targets)
            targets = [] if self.chance(0.3) else targets[:self.random.randrange(5) if said.get("many") else 1]
            if is_single:
                targets = [target for target in targets if target not in taken and not (is_itself and one in taken)]
                taken.update(targets)
                if is_itself and targets:
                    taken.add(one)
            if targets:
                self.objects[one][name] = targets if said.get("many") else targets[0]
