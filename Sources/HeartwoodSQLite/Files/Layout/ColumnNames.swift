import Heartwood

/// The names of the columns of one table that Core Data makes for entities' properties, predicted and then found in the file.
///
/// (1) Claims are made in the order of entity numbers, and within an entity by property name. Facts, "duplicate names".
/// (2) The first claim of a name gets it as it is; later ones get the digits 1, 2, … behind it. Facts, "duplicate names".
/// (3) Where the file differs from the prediction, it wins: a column that no claim predicts, with the claimed name and digits behind it,
///     belongs to a claim whose predicted column is not there. Migrations leave such gaps in the digits.
struct ColumnNames {
    /// One property's claim of a column.
    struct Claim {
        let base: String
        fileprivate(set) var name: String
        /// Whether the file has the column.
        fileprivate(set) var isFound = false
    }

    private(set) var claims: [Claim] = []
    private var counts: [String: Int] = [:]
    private var used: Set<String> = ColumnNames.own

    /// Facts, "tables": the columns that every table has.
    static let own: Set = ["Z_PK", "Z_ENT", "Z_OPT"]

    /// - Returns: the claim's index.
    mutating func claim(_ base: String) -> Int {
        var count = counts[base] ?? 0
        var name = count == 0 ? base : base + String(count)
        while used.contains(name) {
            count += 1
            name = base + String(count)
        }
        counts[base] = count + 1
        used.insert(name)
        claims.append(Claim(base: base, name: name))
        return claims.count - 1
    }

    /// Finds the claimed columns in the file (3).
    mutating func match(_ columns: Set<String>) {
        var missing: [String: [Int]] = [:]
        for index in claims.indices {
            claims[index].isFound = columns.contains(claims[index].name)
            if !claims[index].isFound { missing[claims[index].base, default: []].append(index) }
        }
        guard !missing.isEmpty else { return }
        let free = columns.subtracting(claims.filter(\.isFound).map(\.name)).subtracting(Self.own)
        for (base, indexes) in missing.sorted(by: { $0.key < $1.key }) {
            let found = free.compactMap { name in ColumnNames.digits(of: name, behind: base).map { (digits: $0, name: name) } }.sorted { $0 < $1 }
            guard found.count == indexes.count else { continue }
            for (index, column) in zip(indexes, found) {
                claims[index].name = column.name
                claims[index].isFound = true
            }
        }
    }

    /// The number that stands behind a base in a name; 0 for the base itself, nil for another name.
    static func digits(of name: String, behind base: String) -> Int? {
        guard name.hasPrefix(base) else { return nil }
        let rest = name.dropFirst(base.count)
        return rest.isEmpty ? 0 : rest.allSatisfy { $0.isASCII && $0.isNumber } ? Int(rest) : nil
    }
}
