"""Makes a store from a description, and the lines of its objects."""
import base64, collections, hashlib, json, os, plistlib, shutil, sqlite3, tempfile, zlib

from cache import CacheWriter
from writing_history import HistoryWriter
from layout import Layout
from model import BOOKKEEPING, Model
from objects import Objects
from reading import in_order
from triggers import triggers
from values import Values, expanded, identifier, plain

DEFAULTS = {
    "pageSize": 4096, "encoding": "UTF-8", "framework": 1522,
    # True, false, "empty" for a table without a row, or a damaged one: see `cache`.
    "cache": True,
    # Whether the cache names a class like each entity; SwiftData's do not.
    "classes": True,
    # The app's own keys, and others in place of Core Data's.
    "metadata": {},
    # Z_MAX of root entities, where it is not the largest key.
    "maxima": {},
    # Columns by table that ALTER TABLE adds behind the rows of `$short` objects.
    "added": {},
    # Columns, as TABLE.COLUMN, that are not made.
    "without": [],
    # Statements at the end.
    "sql": [],
    "indexes": True,
    # Names of entities by configuration, and the store's configuration.
    "configurations": {}, "configuration": None,
    # A list of transactions.
    "history": None,
    # "all" leaves the whole store in the write-ahead log.
    "log": None,
}


class Store:
    """One store. `make` writes NAME.sqlite, what lies beside it, NAME.jsonl and NAME-history.jsonl."""
    def __init__(self, name, description):
        self.name = name
        self.says, self.refused, self.may_refuse = description["says"], description.get("refused"), description.get("mayRefuse")
        rest = set(description) - {"says", "refused", "mayRefuse", "entities", "objects", "store"}
        options = {**DEFAULTS, **description.get("store", {})}
        assert not rest and set(options) == set(DEFAULTS), f"{name} has unknown keys"
        self.options = options
        self.model = Model.described(self.entities(description["entities"]))
        # The cache has all entities, the tables only those of the configuration.
        self.whole = Model.described(description["entities"])
        self.layout = Layout(self.model, old=options["framework"] < 700)
        self.values = Values(name)
        self.objects = Objects(description.get("objects", {}), self.model)
        self.uuid = identifier(name)
        self.history = None

    def entities(self, all):
        names = self.options["configurations"].get(self.options["configuration"])
        return all if names is None else {name: all[name] for name in all if name in names}

    def make(self, folder):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "store")
            base = sqlite3.connect(path, isolation_level=None)
            base.execute(f"PRAGMA page_size = {self.options['pageSize']}")
            base.execute(f"PRAGMA encoding = '{self.options['encoding']}'")
            base.execute("PRAGMA auto_vacuum = INCREMENTAL")
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA wal_autocheckpoint = 0")
            base.execute("PRAGMA synchronous = OFF")
            self.write(base)
            if not self.options["log"] and not any(one.logged for one in self.objects.all):
                base.close()
            for end in ("", "-wal"):
                if os.path.exists(path + end):
                    shutil.copy(path + end, os.path.join(folder, f"{self.name}.sqlite{end}"))
            base.close()
        self.write_beside(folder)

    def write(self, base):
        base.execute("BEGIN")
        rows = self.rows()
        self.write_tables(base, rows)
        self.write_joins(base)
        if self.options["indexes"]:
            self.write_indexes(base)
        self.write_bookkeeping(base)
        base.execute("COMMIT")
        if self.options["log"] != "all":
            base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        base.execute("BEGIN")
        for one in self.objects.all:
            if one.logged:
                self.insert(base, one, rows[one])
        for statement in triggers(self.layout) + self.options["sql"]:
            base.execute(statement)
        base.execute("COMMIT")

    # Rows.
    def rows(self):
        found = {one: {"Z_PK": one.key, "Z_ENT": one.entity.number, "Z_OPT": one.version} for one in self.objects.all}
        for one, row in found.items():
            for path, value in one.values.items():
                leaf = dict(one.entity.find(path.split(".")[0]).leaves())[path]
                row[self.layout.column(one.entity, path)] = self.values.stored(value, leaf, f"{one.name} {path}")
            row.update(one.other_columns)
        for one in self.objects.all:
            for name, targets in one.links.items():
                self.link(one, name, targets, found)
        return found

    def link(self, one, name, targets, rows):
        relationship, owner = one.entity.find(name), one.entity.owner(name)
        if not relationship.many:
            for target in targets:
                entity, key = target.split("/")
                rows[one][self.layout.column(one.entity, name)] = int(key)
                beside = self.layout.entity_columns.get((owner, name))
                if beside:
                    rows[one][beside] = self.model.entities[entity].number
        elif (owner, name) not in self.layout.join_of:
            order, inverse = self.layout.order_columns.get((owner, name)), self.model.inverse(relationship)
            for place, target in enumerate(targets):
                row = rows[self.objects.by_name[target]]
                if not inverse:
                    row[self.layout.columns[owner, name]] = one.key
                if order:
                    row[order] = order_key(place)

    def insert(self, base, one, row):
        names = [name for name in row if f"{self.layout.table(one.entity).name}.{name}" not in self.options["without"]]
        places = ", ".join("?" * len(names))
        values = [row[name] for name in names]
        base.execute(f"insert into {self.layout.table(one.entity).name} ({', '.join(names)}) values ({places})", values)

    def write_tables(self, base, rows):
        for table in self.layout.tables.values():
            added = self.options["added"].get(table.name, [])
            statement = self.layout.table_sql(table)
            for name, (type, _) in table.columns.items():
                if name in added or f"{table.name}.{name}" in self.options["without"]:
                    statement = statement.replace(f", {name} {type}", "", 1)
            base.execute(statement)
            of_table = [one for one in self.objects.all if self.layout.table(one.entity) is table]
            for one in of_table:
                if one.short:
                    self.insert(base, one, {key: value for key, value in rows[one].items() if key not in added})
            for name in added:
                base.execute(f"ALTER TABLE {table.name} ADD COLUMN {name} {table.columns[name][0]}")
            for one in of_table:
                if not one.short and not one.logged:
                    self.insert(base, one, rows[one])

    def write_joins(self, base):
        rows = {join: collections.defaultdict(dict) for join in self.layout.joins}
        for one in self.objects.all:
            for name, targets in one.links.items():
                owner = one.entity.owner(name)
                if (owner, name) in self.layout.join_of:
                    self.add_pairs(one, one.entity.find(name), owner, targets, rows)
        for join, pairs in rows.items():
            base.execute(join.sql)
            for keys, orders in pairs.items():
                row = {join.first: keys[0], join.second: keys[1], **orders}
                base.execute(f"insert into {join.name} ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))

    def add_pairs(self, one, relationship, owner, targets, rows):
        join, column = self.layout.join_of[owner, relationship.name]
        order = self.layout.order_columns.get((owner, relationship.name))
        for place, target in enumerate(targets):
            key = int(target.split("/")[1])
            keys = (key, one.key) if column == join.first else (one.key, key)
            if join.first == "REFLEXIVE" or join.second == "REFLEXIVE":
                if not relationship.mirrored and keys[::-1] in rows[join]:
                    continue
            rows[join][keys].update({order: order_key(place)} if order else {})

    # Indexes and the store's own tables.
    def write_indexes(self, base):
        for table in self.layout.tables.values():
            for statement in self.layout.indexes(table).values():
                base.execute(statement)
        for join in self.layout.joins:
            for statement in join.indexes.values():
                base.execute(statement)

    def write_bookkeeping(self, base):
        base.execute("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        for entity in self.model.by_number:
            keys = [one.key for one in self.objects.all if one.entity.root is entity]
            most = self.options["maxima"].get(entity.name, max(keys, default=0))
            above = entity.parent.number if entity.parent else 0
            base.execute("insert into Z_PRIMARYKEY values (?, ?, ?, ?)", (entity.number, entity.stored_name, above, most))
        base.execute("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        base.execute("insert into Z_METADATA values (1, ?, ?)", (self.uuid, plistlib.dumps(self.metadata(), fmt=plistlib.FMT_BINARY)))
        if self.options["cache"] is not False and self.options["framework"] >= 637:
            base.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            content = self.cache()
            if content is not None:
                base.execute("insert into Z_MODELCACHE values (?)", (content,))
        if self.options["history"] is not None:
            self.history = HistoryWriter(base, self.layout, self.options["history"], self.options["framework"] < 860)
            self.history.write()
            self.write_bookkeeping_keys(base)

    def write_bookkeeping_keys(self, base):
        counts = {"CHANGE": self.history.change_count, "TRANSACTION": len(self.options["history"])}
        counts["TRANSACTIONSTRING"] = len(self.history.strings)
        for name, number in BOOKKEEPING.items():
            base.execute("insert into Z_PRIMARYKEY values (?, ?, 0, ?)", (number, name, counts[name]))

    def cache(self):
        """The content of the model cache; hostile ones are cut, or other bytes with DEFLATE or without."""
        said, sound = self.options["cache"], CacheWriter(self.whole, self.options["configurations"], self.options["classes"]).packed()
        if said is True:
            return sound
        if said == "empty":
            return None
        if "cut" in said:
            return sound[:said["cut"]]
        if "bytes" in said:
            return plain(expanded(said["bytes"]), "data")
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return deflate.compress(plain(expanded(said["deflated"]), "data")) + deflate.flush()

    def metadata(self):
        version, hashes = self.options["framework"], {one.name: stand_in(self.name + one.name) for one in self.model.by_number}
        found = {
            "NSPersistenceFrameworkVersion": version, "NSStoreModelVersionHashes": hashes, "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionIdentifiers": ["1"], "NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2"}
        if version >= 973:
            found["NSStoreModelVersionHashesDigest"] = base64.b64encode(hashlib.sha512(self.name.encode()).digest()).decode()
        if version >= 1321:
            found["NSStoreModelVersionChecksumKey"] = base64.b64encode(stand_in(self.name)).decode()
        if version >= 1522:
            found["NSPersistenceMaximumFrameworkVersion"] = version
        return {**found, **self.options["metadata"]}

    # The lines that a reader has to find.
    def write_beside(self, folder):
        if self.values.files:
            place = os.path.join(folder, f".{self.name}_SUPPORT", "_EXTERNAL_DATA")
            os.makedirs(place, exist_ok=True)
            for name, data in self.values.files.items():
                with open(os.path.join(place, name), "wb") as file:
                    file.write(data)
        write_lines(os.path.join(folder, f"{self.name}.jsonl"), [self.summary()] + ([] if self.refused else list(self.lines())))
        if self.history:
            write_lines(os.path.join(folder, f"{self.name}-history.jsonl"), self.history.lines)

    def summary(self):
        counts, own = collections.Counter(one.entity.name for one in self.objects.all), self.options["metadata"]
        numbers = {one.name: one.number for one in self.model.by_number}
        found = {
            "counts": dict(sorted(counts.items())), "entityNumbers": numbers, "frameworkVersion": self.options["framework"],
            "metadata": own, "objects": len(self.objects.all), "says": self.says, "store": f"{self.name}.sqlite", "uuid": self.uuid}
        found.update({key: text for key, text in (("refused", self.refused), ("mayRefuse", self.may_refuse)) if text})
        return found

    def lines(self):
        for one in sorted(self.objects.all, key=lambda one: (one.entity.name, one.key)):
            yield {
                "attributes": self.expected_attributes(one), "entity": one.entity.name, "pk": one.key,
                "relationships": {name: self.expected_targets(one, name) for name in one.links if not one.entity.find(name).transient}}

    def expected_attributes(self, one):
        leaves = [leaf for each in one.entity.properties if not each.is_relationship for leaf in each.leaves()]
        return {path: self.values.expected(one.values[path], leaf, f"{one.name} {path}") for path, leaf in leaves}

    def expected_targets(self, one, name):
        return in_order(one.entity.find(name), self.objects.living(one.links[name]))


def order_key(place):
    """Order keys are multiples of 1024, until an object comes between two others."""
    return 1024 * (place + 1) + 512 * (place % 3 == 2)


def stand_in(text):
    """The algorithm of the hashes is not known. A store without a model beside it needs none."""
    return hashlib.sha256(text.encode()).digest()


def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n")
