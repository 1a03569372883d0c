"""The objects of a description, with the two sides of each relationship made to agree."""


class Object:
    def __init__(self, name, said, model):
        self.name, said = name, dict(said)
        entity, key = name.split("/")
        self.entity, self.key = model.entities[entity], int(key)
        self.version = said.pop("$version", 1)
        # The row has been written before columns were added to the table.
        self.short = said.pop("$short", False)
        # The row is only in the write-ahead log.
        self.logged = said.pop("$logged", False)
        # Columns that no property of the entity has, for instance the default values of a sibling's.
        self.other_columns = said.pop("$columns", {})
        # The inverses do not follow this object's relationships.
        self.one_sided = said.pop("$oneSided", False)
        self.values, self.links = {}, {}
        for one in self.entity.properties:
            if one.is_relationship:
                found = said.pop(one.name, [])
                self.links[one.name] = found if isinstance(found, list) else [found]
            else:
                self.values.update({path: said.pop(path, None) for path, _ in one.leaves()})
        assert not said, f"{name} has no properties {', '.join(said)}"


def spread(said):
    """Many alike objects are said by a range of keys: "Person/1...9". A value "{n}" is the key, and texts may contain it."""
    for name, values in said.items():
        entity, keys = name.split("/")
        first, _, last = keys.partition("...")
        for key in range(int(first), int(last or first) + 1):
            yield f"{entity}/{key}", {property: numbered(value, key) for property, value in values.items()} if last else values


def numbered(value, key):
    if isinstance(value, str):
        return key if value == "{n}" else value.replace("{n}", str(key))
    return value


class Objects:
    def __init__(self, said, model):
        self.model, said = model, dict(spread(said))
        self.all = [Object(name, values, model) for name, values in said.items()]
        self.by_name = {one.name: one for one in self.all}
        for one in self.all:
            if not one.one_sided:
                self.repair(one)

    def repair(self, one):
        for name, targets in list(one.links.items()):
            inverse = self.model.inverse(one.entity.find(name))
            for target in targets if inverse else []:
                other = self.by_name.get(target)
                if other and one.name not in other.links[inverse.name]:
                    assert inverse.many or not other.links[inverse.name], f"{target} has two values of {inverse.name}"
                    other.links[inverse.name].append(one.name)

    def living(self, names):
        """The targets that are there; the others are references to no row."""
        return [name for name in names if name in self.by_name]
