import Heartwood
internal import HeartwoodSQLiteFile

/// The destinations of the columns of a file that may have keys, for a model that is guessed from the tables.
///
/// (1) Only an INTEGER column with the index `<TABLE>_<COLUMN>_INDEX`, or with a column of its order, may have keys. Facts, "indexes", "order".
/// (2) Without a column of entity numbers beside it its destination has no subentities. Facts, "to-one".
/// (3) In a table of one entity the columns of integers come before those of keys, so one before another integer has none. Facts, "order of
///     columns".
/// (4) Each value is the key of a row of the destination. Few values lead nowhere: facts, "traps".
/// (5) Of the entities that are left the one with the column's name is the destination. Else it is one with a similar name, else the one whose
///     column of the inverse has the same pairs, else the only one. If several are left, the column is an integer.
/// (6) A destination is sure by its name if rows have its keys, or if nothing has a value; else by two signs that agree.
struct ReferenceGuesses {
    struct Column: Hashable {
        let table: String
        let name: String
    }

    struct Guess {
        /// nil for an integer.
        let destination: Int64?
        /// The reason why another one may be right; nil for a sure guess.
        let doubt: String?
    }

    private let names: [Int64: String]
    private let stems: EntityStems
    private let numbers: EntityNumbers
    private var families: [KeyTally.Family] = []
    private var tallies: [Column: KeyTally] = [:]
    /// The columns whose table was read to its end.
    private var read: Set<Column> = []
    /// The columns that have no keys by (3).
    private var integers: Set<Column> = []
    private var columns: [Column: (root: Int64, stem: ColumnStem)] = [:]
    /// Look-ups that are left. A real file needs some for each value; a hostile one may have very many entities beside very many columns.
    private var budget: Int

    private static let lookupsMin = 1 << 24, lookupsPerByte = 16
    /// One in so many values may lead nowhere.
    private static let danglingShare = 16
    private static let namesShown = 3

    /// - Parameters:
    ///   - names: the entities with objects.
    ///   - roots: those without a superentity, whose tables are read.
    init(_ file: SQLiteFile, _ contents: CoreDataContents, names: [Int64: String], roots: [Int64]) throws {
        (self.names, numbers) = (names, contents.numbers)
        stems = EntityStems(names)
        budget = Self.lookupsMin + Self.lookupsPerByte * Int(clamping: file.pageCount * file.header.pageSize)
        let parents = Set(numbers.entries.map(\.parent))
        var found: [(table: String, columns: [Column])] = []
        for root in roots {
            let table = Self.table(names[root] ?? ""), list = candidates(in: table, root, contents.schema, isAlone: !parents.contains(root))
            if !list.isEmpty { found.append((table, list)) }
        }
        guard !found.isEmpty else { return }
        try learnKeys(file, roots, parents)
        for (table, columns) in found { try read(table, columns, file) }
    }

    static func table(_ entity: String) -> String { "Z" + entity.uppercased() }

    // MARK: Columns

    /// - Parameter isAlone: whether the table has rows of one entity.
    private mutating func candidates(in table: String, _ root: Int64, _ schema: CoreDataSchema, isAlone: Bool) -> [Column] {
        let all = schema.tables[table] ?? []
        let list = all.filter { column in
            let rest = column.name.dropFirst()
            guard column.declaredType == "INTEGER", column.name.hasPrefix("Z"), rest.first.map({ $0 != "_" && !$0.isNumber }) ?? false else {
                return false
            }
            return schema.hasReferenceIndex(column.name, of: table) || schema.has("Z_FOK_\(rest)", in: table)
        }.map { Column(table: table, name: $0.name) }
        for column in list { columns[column] = (root, ColumnStem(column.name.dropFirst())) }
        if isAlone { integers.formUnion(Self.integers(all, known: Set(list.map(\.name))).map { Column(table: table, name: $0) }) }
        return list
    }

    /// The columns that may have keys by (1), and do not by (3).
    private static func integers(_ columns: [CoreDataSchema.Column], known: Set<String>) -> [String] {
        let first = columns.drop { ColumnNames.own.contains($0.name) }.prefix { $0.declaredType == "INTEGER" }.map(\.name)
        let last = first.lastIndex { name in
            name.hasPrefix("Z") && !known.contains(name) && name.dropFirst().first.map { $0 != "_" && !$0.isNumber } ?? false
        }
        return last.map { first[..<$0].filter(known.contains) } ?? []
    }

    // MARK: Values

    private mutating func learnKeys(_ file: SQLiteFile, _ roots: [Int64], _ parents: Set<Int64>) throws {
        let members = Dictionary(grouping: names.keys.filter { !parents.contains($0) }) { numbers.root(of: $0) ?? 0 }
        let given = Dictionary(numbers.entries.map { ($0.number, $0.keyMax) }) { first, _ in first }
        for root in roots {
            let name = Self.table(names[root] ?? "")
            guard let members = members[root], file.schema.entry(.table, named: name) != nil else { continue }
            let table = try file.table(named: name), keys = CoreDataKeys()
            guard let column = table.index(ofColumn: "Z_ENT"), try Self.isReadable({ try keys.learn(table, entity: column) }) else { continue }
            families.append(KeyTally.Family(root: root, keys: keys, members: Set(members), keyMax: max(given[root] ?? 0, keys.greatest)))
        }
    }

    private mutating func read(_ name: String, _ list: [Column], _ file: SQLiteFile) throws {
        let table = try file.table(named: name), members = families.flatMap(\.members)
        let pass = TallyPass(families, lookups: budget)
        for column in list {
            let named = columns[column].map { stems.equal(to: $0.stem, among: members) } ?? []
            pass.add(KeyTally(position: table.index(ofColumn: column.name) ?? 0, families, named: named))
        }
        let isComplete = try Self.isReadable { try table.forEachRow { try pass.note($0) } }
        budget = pass.lookups
        for (column, tally) in zip(list, pass.tallies) {
            tallies[column] = tally
            if isComplete, budget > 0 { read.insert(column) }
        }
    }

    /// Damage is another check's finding; here it makes a guess doubtful.
    private static func isReadable(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as SQLiteFileError where [.corrupt, .truncated, .unsupported].contains(error.code) {
            return false
        }
    }

    // MARK: Guesses

    /// - Returns: nil for a column that has no keys by (1).
    func guess(_ column: Column) -> Guess? {
        guard let (root, stem) = columns[column] else { return nil }
        guard let tally = tallies[column], read.contains(column) else { return Guess(destination: nil, doubt: "its values could not be read") }
        let fitting = tally.entities, named = stems.equal(to: stem, among: fitting), isInteger = integers.contains(column)
        guard !isInteger else { return Guess(destination: nil, doubt: named.isEmpty || tally.count == 0 ? nil : "its values are keys of \(shown(named))") }
        guard tally.count > 0 else { return unused(fitting, named, stem) }
        if named.count == 1 { return Guess(destination: named[0], doubt: nil) }
        if let entity = mostly(tally) { return entity }
        guard !fitting.isEmpty else { return Guess(destination: nil, doubt: "its values are keys of no entity") }
        let similar = stems.similar(to: stem, among: fitting), inverse = inverses(of: column, tally, root).intersection(fitting)
        if inverse.count == 1, let entity = inverse.first {
            return Guess(destination: entity, doubt: similar.contains(entity) ? nil : "a column of \(shown([entity])) has the same pairs")
        }
        if similar.count == 1 {
            let isSure = fitting.count == 1 && tally.samples.count > 2
            return Guess(destination: similar[0], doubt: isSure ? nil : "only its name and its \(Self.count(tally.count)) tell it")
        }
        if fitting.count == 1, let entity = fitting.first, tally.samples.count > 1 || families.flatMap(\.members).count == 1 {
            return Guess(destination: entity, doubt: "only its \(Self.count(tally.count)) tell\(tally.count == 1 ? "s" : "") it")
        }
        return Guess(destination: nil, doubt: "its values are keys of \(shown(similar.count > 1 ? similar : Array(fitting)))")
    }

    private static func count(_ values: Int) -> String { "\(values) value\(values == 1 ? "" : "s")" }

    /// Without values only names can tell a destination.
    private func unused(_ all: Set<Int64>, _ named: [Int64], _ stem: ColumnStem) -> Guess {
        if named.count == 1 { return Guess(destination: named[0], doubt: nil) }
        let similar = stems.similar(to: stem, among: all)
        guard similar.count == 1 else { return Guess(destination: nil, doubt: "it has no values, and no entity has its name") }
        return Guess(destination: similar[0], doubt: "it has no values, and only its name tells it")
    }

    /// The entity with the column's name, if few values are keys of no row.
    private func mostly(_ tally: KeyTally) -> Guess? {
        guard tally.isOfKeys, tally.missing.count == 1, let (entity, missing) = tally.missing.first, missing <= tally.count / Self.danglingShare else {
            return nil
        }
        return Guess(destination: entity, doubt: "\(missing) of its \(tally.count) values lead nowhere")
    }

    /// The entities whose column has the same pairs, read from the other side. Pairs of equal numbers tell nothing.
    private func inverses(of column: Column, _ tally: KeyTally, _ root: Int64) -> Set<Int64> {
        guard tally.count > 1, tally.moved > 0, tally.isOfKeys else { return [] }
        return tallies.reduce(into: []) { found, entry in
            let (other, inverse) = entry
            guard other != column, read.contains(other), inverse.isOfKeys, inverse.count == tally.count, inverse.forward == tally.backward,
                inverse.backward == tally.forward, let family = columns[other].flatMap({ place in families.first { $0.root == place.root } })
            else { return }
            found.formUnion(family.members)
        }
    }

    private func shown(_ entities: [Int64]) -> String {
        let list = entities.compactMap { names[$0] }.sorted()
        return list.prefix(Self.namesShown).joined(separator: ", ") + (list.count > Self.namesShown ? " and \(list.count - Self.namesShown) more" : "")
    }
}
