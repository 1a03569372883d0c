import Heartwood

/// The names of a file's entities as relationships' names may have them: in capitals, and without what all of them begin or end with.
struct EntityStems {
    private let stems: [Int64: Set<String>]
    /// Ends of entities' names that a relationship's name lacks.
    private static let ends: Set = ["ENTITY", "MO", "MODEL", "OBJECT", "MANAGEDOBJECT"]
    private static let partMin = 3

    init(_ names: [Int64: String]) {
        let list = Array(names.values), prefix = Self.commonPrefix(list), suffix = Self.commonSuffix(list)
        stems = names.mapValues { name in
            Set([name, String(name.dropFirst(prefix)), String(name.dropLast(suffix))].filter { !$0.isEmpty }.map { $0.uppercased() })
        }
    }

    /// The entities with the name of a column.
    func equal(to column: ColumnStem, among entities: some Sequence<Int64>) -> [Int64] {
        entities.filter { entity in stems[entity]?.contains { column.names.contains($0) } ?? false }
    }

    /// The entities whose name a column's name ends with, or begins or ends with it.
    func similar(to column: ColumnStem, among entities: some Sequence<Int64>) -> [Int64] {
        entities.filter { entity in
            stems[entity]?.contains { stem in column.names.contains { Self.isSimilar(String($0), stem) } } ?? false
        }
    }

    private static func isSimilar(_ column: String, _ stem: String) -> Bool {
        if stem.count >= partMin, column.hasSuffix(stem) { return true }
        guard column.count >= partMin else { return false }
        return stem.hasSuffix(column) || stem.hasPrefix(column) && ends.contains(String(stem.dropFirst(column.count)))
    }

    /// The length of the longest start of all names behind which a word begins in each.
    private static func commonPrefix(_ names: [String]) -> Int {
        guard names.count > 1, let first = names.first else { return 0 }
        let common = names.dropFirst().reduce(first) { String(zip($0, $1).prefix { $0 == $1 }.map(\.0)) }
        return stride(from: common.count, to: 1, by: -1).first { count in names.allSatisfy { $0.dropFirst(count).first?.isUppercase ?? false } } ?? 0
    }

    /// The length of the longest end of all names with which a word begins.
    private static func commonSuffix(_ names: [String]) -> Int {
        guard names.count > 1, let first = names.first else { return 0 }
        let common = names.dropFirst().reduce(first) { String(zip($0.reversed(), $1.reversed()).prefix { $0 == $1 }.map(\.0).reversed()) }
        return stride(from: common.count, to: 1, by: -1).first { count in
            names.allSatisfy { $0.count > count } && common.suffix(count).first?.isUppercase ?? false
        } ?? 0
    }
}

/// The name of a column without its Z. Digits behind it may be the name's own, or tell it from those of other entities in its table.
struct ColumnStem {
    let names: Set<String>

    init(_ rest: Substring) {
        let digits = rest.reversed().prefix { $0.isASCII && $0.isNumber }.count
        names = Set([String(rest), String(rest.dropLast(digits))].filter { !$0.isEmpty })
    }
}
