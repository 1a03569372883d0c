import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Finds who has the unique values that a save gives, in the save itself and in the store.
struct UniqueCheck {
    private struct Claim {
        let constraint: FamilyTable.Constraint
        let family: Int
        var rows: [SavedRow]
    }

    private let layout: PostgreSQLLayout
    private var claims: [Claim] = []
    private var places: [Key: Int] = [:]
    /// By object: the constraints whose values it gives up or changes.
    private var released: [ObjectKey: Set<UInt16>] = [:]
    /// The statements: their places in the reading batch, and the claims of each.
    private var readings: [(place: Int, claims: [Int])] = []

    private struct Key: Hashable {
        let constraint: String
        let bytes: [UInt8]
    }

    init(_ layout: PostgreSQLLayout) { self.layout = layout }

    /// Adds what a row claims.
    mutating func add(_ row: SavedRow) throws {
        for constraint in layout.families[row.entity.family].constraints {
            guard constraint.entities?.contains(row.entity.number) ?? true else { continue }
            let fields = constraint.columns.compactMap { column in row.entity.fields.firstIndex { $0.column == column } }
            guard fields.count == constraint.columns.count, row.base == nil || fields.contains(where: row.changes) else { continue }
            if row.base != nil { released[row.key, default: []].insert(constraint.number) }
            guard let bytes = try key(row, fields, constraint) else { continue }
            let key = Key(constraint: constraint.name, bytes: bytes)
            if let known = places[key] {
                claims[known].rows.append(row)
            } else {
                places[key] = claims.count
                claims.append(Claim(constraint: constraint, family: row.entity.family, rows: [row]))
            }
        }
    }

    mutating func release(_ key: ObjectKey, _ entity: BoundEntity) {
        released[key] = Set(layout.families[entity.family].constraints.map(\.number))
    }

    /// The values as bytes, equal for equal ones; nil where one is null, which equals nothing.
    private func key(_ row: SavedRow, _ fields: [Int], _ constraint: FamilyTable.Constraint) throws -> [UInt8]? {
        let key = KeyBuilder()
        for field in fields {
            switch try row.value(field) {
            case .unset, .null, .toMany, .object: return nil
            case .bool(let flag): key.append(bool: flag)
            case .integer(let number): key.append(int64: number)
            case .double(let number), .date(let number): key.append(double: number)
            case .text(let text): key.append(text: text)
            case .url(let url): key.append(text: url.absoluteString)
            case .data(let data): data.withUnsafeBytes { key.append(bytes: $0) }
            case .uuid(let uuid): key.append(uuid: uuid.storedBytes)
            case .decimal(let number): key.append(decimal: StoredDecimal(number.decimalValue))
            case .reference(let target): key.append(reference: layout.reference(target))
            }
        }
        return key.bytes
    }

    /// Adds a statement for each constraint.
    mutating func addReading(to batch: inout PostgreSQLBatch) throws {
        for (_, indices) in Dictionary(grouping: claims.indices, by: { claims[$0].constraint.name }).sorted(by: { $0.key < $1.key }) {
            let constraint = claims[indices[0]].constraint, family = layout.families[claims[indices[0]].family]
            var columns = constraint.columns.map { ColumnArray(family.columns[$0]) }
            for index in indices {
                guard let row = claims[index].rows.first else { continue }
                for (place, column) in constraint.columns.enumerated() {
                    guard let field = row.entity.fields.firstIndex(where: { $0.column == column }) else { continue }
                    try columns[place].add(try row.value(field), row.entity.table.runtime.entity)
                }
            }
            var parameters = PostgreSQLParameters()
            for column in columns { try parameters.add(column.array) }
            let lists = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", "), names = columns.indices.map { "c\($0), " }.joined()
            let equal = columns.enumerated().map { "t.\($1.column.quoted) = u.c\($0)" }.joined(separator: " AND ")
            let covered = constraint.entities.map { " AND t." + FamilyTable.isOne(of: $0) } ?? ""
            readings.append((batch.count, indices))
            batch.add(
                PostgreSQLStatement(
                    "SELECT u.place, t.\(FamilyTable.number), t.\(FamilyTable.entity) FROM unnest(\(lists)) WITH ORDINALITY AS u(\(names)place)"
                        + " JOIN \(family.quoted) t ON \(equal)\(covered)"), parameters)
        }
    }

    /// A constraint that the rows would violate.
    struct Conflict {
        let constraint: FamilyTable.Constraint
        /// The stored row that has the values; nil where only the rows themselves have them.
        let holder: ObjectKey?
        let rows: [SavedRow]
    }

    /// - Parameter results: of the reading batch.
    func conflicts(_ results: [PostgreSQLResult]) throws -> [Conflict] {
        var holders: [Int: ObjectKey] = [:]
        for (place, indices) in readings {
            let result = results[place]
            for line in 0..<result.count {
                let position = Int(try result.int64(line, 0)) - 1
                guard indices.indices.contains(position), let holder = layout.key(try result.int64(line, 1), try result.int16(line, 2)) else { continue }
                let claim = indices[position]
                guard !claims[claim].rows.contains(where: { $0.key == holder }),
                    released[holder]?.contains(claims[claim].constraint.number) != true
                else { continue }
                holders[claim] = min(holders[claim] ?? holder, holder) { $0.rawValue < $1.rawValue }
            }
        }
        return claims.indices.filter { holders[$0] != nil || claims[$0].rows.count > 1 }.map { index in
            Conflict(constraint: claims[index].constraint, holder: holders[index], rows: claims[index].rows)
        }
    }

    /// - Throws: `ConstraintViolations`.
    func check(_ results: [PostgreSQLResult]) throws {
        let conflicts = try conflicts(results)
        guard conflicts.isEmpty else {
            throw ConstraintViolations(conflicts.map { ($0.constraint.attributes, $0.holder, $0.rows.compactMap(\.object)) })
        }
    }
}

private func min(_ a: ObjectKey, _ b: ObjectKey, _ isBefore: (ObjectKey, ObjectKey) -> Bool) -> ObjectKey { isBefore(b, a) ? b : a }
