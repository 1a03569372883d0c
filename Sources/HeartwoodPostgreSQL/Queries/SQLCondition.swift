import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient
import RecordLog

/// Writes tests of rows as conditions of a statement, where SQL says exactly the same.
///
/// (1) A condition may be null where the test is false, never where it is true. Under NOT it is made total.
/// (2) A value is a parameter, so no text of a user becomes SQL.
/// (3) The tests are those that the stack would make on the rows (`RowFilter`), so their meaning is decided in one place.
struct SQLCondition {
    private let layout: PostgreSQLLayout
    /// The statement's, with those of this condition behind them.
    private(set) var parameters: PostgreSQLParameters
    private var aliases = 0

    init(_ layout: PostgreSQLLayout, behind parameters: PostgreSQLParameters = PostgreSQLParameters()) {
        (self.layout, self.parameters) = (layout, parameters)
    }

    /// The condition for a test of an entity's rows.
    /// - Parameter alias: of the entity's table in the statement.
    /// - Returns: nil where SQL has no equal; no parameter is added then.
    mutating func sql(_ test: RowFilter, _ entity: BoundEntity, _ alias: String) -> String? {
        let known = self
        do throws(Unsaid) { return try condition(test, entity, alias) } catch {
            self = known
            return nil
        }
    }

    /// Thrown for a test that SQL cannot say.
    struct Unsaid: Error {}

    // MARK: Tests

    private mutating func condition(_ test: RowFilter, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> String {
        switch test {
        case let test as AllFilter: return try joined(test.tests, " AND ", entity, alias)
        case let test as AnyFilter: return try joined(test.tests, " OR ", entity, alias)
        case let test as NotFilter: return "NOT coalesce(\(try condition(test.test, entity, alias)), false)"
        case let test as ConstantFilter: return test.value ? "true" : "false"
        case let test as IdentityFilter: return identity(test, entity, alias)
        case let test as ColumnFilter: return try column(test, entity, alias)
        case let test as AnyMemberFilter:
            return try member(test.source, entity, alias) { this, other, alias throws(Unsaid) in
                try test.destinations.test(other.table.id).map { (one) throws(Unsaid) in try this.condition(one, other, alias) } ?? "false"
            }
        case let test as AnyMemberIdentityFilter: return try memberIdentity(test, entity, alias)
        case let test as MemberCountFilter: return try memberCount(test, entity, alias)
        default: throw Unsaid()
        }
    }

    private mutating func joined(_ tests: [RowFilter], _ word: String, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> String {
        var parts: [String] = []
        for test in tests { parts.append(try condition(test, entity, alias)) }
        return "(" + parts.joined(separator: word) + ")"
    }

    private mutating func identity(_ test: IdentityFilter, _ entity: BoundEntity, _ alias: String) -> String {
        let rows = test.constants.filter { $0.table == entity.table.id }
        let condition = "\(alias).\(FamilyTable.number) = ANY(\(bind(rows)))"
        return test.isNegated ? "NOT \(condition)" : condition
    }

    private mutating func column(_ test: ColumnFilter, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> String {
        guard let field = entity.field(test.property), field.kind != .externalData || test is NullFilter else { throw Unsaid() }
        let column = name(field.column, entity, alias)
        switch test {
        case let test as NullFilter: return column + (test.isNull ? " IS NULL" : " IS NOT NULL")
        case let test as ReferenceFilter:
            let condition = reference(test.constants, field, entity, alias)
            return test.isNegated ? "NOT coalesce(\(condition), false)" : condition
        case let test as ToOneFilter: return try destination(test, field, entity, alias)
        case let test as TextFilter: return try text(test, column)
        default: return try value(test, field.kind, column)
        }
    }

    /// A comparison with a value, or a look-up in a list of them.
    private mutating func value(_ test: ColumnFilter, _ kind: PropertyKind, _ column: String) throws(Unsaid) -> String {
        switch test {
        case let test as ScalarFilter: return try scalar(test, kind, column)
        case let test as DecimalFilter: return compared(column, test.comparison, bind(test.constant))
        case let test as UUIDFilter:
            return compared(column, test.isNegated ? .notEqual : .equal, bind { $0.addUUID(UUID(storedBytes: test.constant)) })
        case let test as BytesFilter:
            return compared(column, test.isNegated ? .notEqual : .equal, try bind(test.constant))
        case let test as IntegerSetFilter: return integers(test.constants, kind, column)
        default: return "\(column) = ANY(\(try list(test)))"
        }
    }

    private mutating func scalar(_ test: ScalarFilter, _ kind: PropertyKind, _ column: String) throws(Unsaid) -> String {
        switch test.constant {
        case .integer(let number):
            if kind == .bool { return compared(column, test.comparison, bind { $0.addBool(number != 0) }) }
            return compared(column, test.comparison, bind { $0.addInt64(number) })
        case .double(let number):
            // The server has NaN equal to itself.
            guard !number.isNaN else { throw Unsaid() }
            return compared(column, test.comparison, bind { $0.addDouble(number) })
        }
    }

    private mutating func integers(_ numbers: Set<Int64>, _ kind: PropertyKind, _ column: String) -> String {
        guard kind == .bool else { return "\(column) = ANY(\(bindIntegers(numbers.sorted())))" }
        return numbers.isEmpty ? "false" : "\(column) IN (\(numbers.sorted().map { $0 == 0 ? "false" : "true" }.joined(separator: ", ")))"
    }

    private mutating func list(_ test: ColumnFilter) throws(Unsaid) -> String {
        do {
            var array: PostgreSQLArray
            switch test {
            case let test as DoubleSetFilter:
                array = PostgreSQLArray(of: .float8)
                for number in test.constants { array.addDouble(number) }
            case let test as UUIDSetFilter:
                array = PostgreSQLArray(of: .uuid)
                for value in test.constants { array.addUUID(value) }
            case let test as BytesSetFilter:
                array = PostgreSQLArray(of: .bytea)
                for value in test.constants { try array.addBytes(value) }
            case let test as TextSetFilter:
                array = PostgreSQLArray(of: .text)
                // No row has a text with U+0000.
                for text in test.texts where !text.utf8.contains(0) { try array.addText(text) }
            default: throw Unsaid()
            }
            return try bind(array)
        } catch { throw Unsaid() }
    }

    /// Null is unequal to a value, and neither less nor greater.
    private func compared(_ column: String, _ comparison: ComparisonOperator, _ value: String) -> String {
        switch comparison {
        case .equal: "\(column) = \(value)"
        case .notEqual: "\(column) IS DISTINCT FROM \(value)"
        case .less: "\(column) < \(value)"
        case .lessOrEqual: "\(column) <= \(value)"
        case .greater: "\(column) > \(value)"
        case .greaterOrEqual: "\(column) >= \(value)"
        }
    }

    // MARK: Text

    private mutating func text(_ test: TextFilter, _ column: String) throws(Unsaid) -> String {
        guard let (kind, pattern) = test.plainComparison, !pattern.utf8.contains(0) else { throw Unsaid() }
        let condition: String
        switch kind {
        case .order(.notEqual): condition = "\(column) <> \(try bind(pattern))"
        case .order(let comparison): condition = compared(column, comparison, try bind(pattern))
        case .contains where !pattern.isEmpty: condition = "strpos(\(column), \(try bind(pattern))) > 0"
        case .beginsWith where !pattern.isEmpty: condition = try prefix(pattern, column)
        case .endsWith where !pattern.isEmpty:
            let bound = try bind(pattern)
            condition = "right(\(column), char_length(\(bound))) = \(bound)"
        default: throw Unsaid()
        }
        return test.isNegated ? "NOT coalesce(\(condition), false)" : condition
    }

    /// A range, since an index serves it under any plan.
    private mutating func prefix(_ pattern: String, _ column: String) throws(Unsaid) -> String {
        let low = "\(column) >= \(try bind(pattern))"
        guard let end = pattern.endOfPrefix else { throw Unsaid() }
        return "(\(low) AND \(column) < \(try bind(end)))"
    }

    // MARK: Relationships

    private func name(_ column: Int, _ entity: BoundEntity, _ alias: String) -> String {
        "\(alias).\(layout.families[entity.family].columns[column].quoted)"
    }

    private mutating func newAlias() -> String {
        aliases += 1
        return "a\(aliases)"
    }

    /// The rows of a list, by their tables: the key, and the entity beside it where the column has one.
    private mutating func reference(_ rows: Set<RowReference>, _ field: BoundEntity.Field, _ entity: BoundEntity, _ alias: String) -> String {
        var byTable: [TableID: Set<RowReference>] = [:]
        for row in rows { byTable[row.table, default: []].insert(row) }
        let parts = byTable.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { table, rows -> String? in
            guard let other = layout.entity(table) else { return nil }
            let condition = "\(name(field.column, entity, alias)) = ANY(\(bind(rows)))"
            guard let beside = field.target?.entityColumn else { return other.number == field.target?.entity ? condition : nil }
            return "(\(condition) AND \(name(beside, entity, alias)) = \(other.number))"
        }
        return parts.isEmpty ? "false" : "(" + parts.joined(separator: " OR ") + ")"
    }

    private mutating func destination(
        _ test: ToOneFilter, _ field: BoundEntity.Field, _ entity: BoundEntity, _ alias: String
    ) throws(Unsaid) -> String {
        let tests = test.destinations.list
        guard let family = field.target?.family else { throw Unsaid() }
        let other = newAlias()
        var parts: [String] = []
        for (table, test) in tests {
            guard let destination = layout.entity(table) else { throw Unsaid() }
            let condition = try condition(test, destination, other)
            parts.append(tests.count == 1 ? condition : "(\(other).\(FamilyTable.entity) = \(destination.number) AND \(condition))")
        }
        let any = parts.isEmpty ? "false" : "(" + parts.joined(separator: " OR ") + ")"
        let rows = "SELECT 1 FROM \(layout.families[family].quoted) \(other) WHERE \(other).\(FamilyTable.number) = \(name(field.column, entity, alias))"
        // Where null meets the condition, so does a row that is gone.
        return test.whenNull ? "NOT EXISTS (\(rows) AND NOT coalesce(\(any), false))" : "EXISTS (\(rows) AND \(any))"
    }

    /// A condition on the members of a to-many relationship: that one of them meets `condition`.
    private mutating func member(
        _ source: MemberSources, _ entity: BoundEntity, _ alias: String,
        _ condition: (inout SQLCondition, BoundEntity, String) throws(Unsaid) -> String
    ) throws(Unsaid) -> String {
        var parts: [String] = []
        for rows in try members(source, entity, alias) {
            let met = try condition(&self, rows.entity, rows.alias)
            if met != "false" { parts.append("EXISTS (SELECT 1 FROM \(rows.text) AND \(met))") }
        }
        return parts.isEmpty ? "false" : "(" + parts.joined(separator: " OR ") + ")"
    }

    private mutating func memberIdentity(_ test: AnyMemberIdentityFilter, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> String {
        try member(test.source, entity, alias) { this, other, alias throws(Unsaid) in
            let rows = test.constants.filter { $0.table == other.table.id }
            return rows.isEmpty ? "false" : "\(alias).\(FamilyTable.number) = ANY(\(this.bind(rows)))"
        }
    }

    private mutating func memberCount(_ test: MemberCountFilter, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> String {
        let counts = try members(test.source, entity, alias).map { "(SELECT count(*) FROM \($0.text))" }
        let count = counts.isEmpty ? "0::bigint" : "(" + counts.joined(separator: " + ") + ")"
        return compared(count, test.comparison, bind { $0.addInt64(test.constant) })
    }

    private struct Members {
        let entity: BoundEntity
        let alias: String
        /// The text behind FROM, with a condition.
        let text: String
    }

    /// One text for each entity that the members of a row may have.
    private mutating func members(_ source: MemberSources, _ entity: BoundEntity, _ alias: String) throws(Unsaid) -> [Members] {
        let number = "\(alias).\(FamilyTable.number)"
        switch source.members {
        case .inverse(let tables):
            guard let inverse = source.owner.inverseName(source.property) else { throw Unsaid() }
            var all: [Members] = []
            for (table, _) in tables {
                guard let other = layout.entity(table), let field = other.field(named: inverse) else { throw Unsaid() }
                let members = newAlias()
                all.append(Members(
                    entity: other, alias: members,
                    text: "\(layout.families[other.family].quoted) \(members) WHERE \(name(field.column, other, members)) = \(number)"
                        + " AND \(members).\(FamilyTable.entity) = \(other.number)"))
            }
            return all
        case .link(let join, let isForward):
            let link = layout.link(join), pairs = newAlias(), family = isForward ? link.destinationFamily : link.sourceFamily
            let own = isForward ? LinkTable.source : LinkTable.destination, far = isForward ? LinkTable.destination : LinkTable.source
            return layout.entities.filter { $0.family == family }.map { other in
                let members = newAlias()
                return Members(
                    entity: other, alias: members,
                    text: "\(link.quoted) \(pairs) JOIN \(layout.families[family].quoted) \(members)"
                        + " ON \(members).\(FamilyTable.number) = \(pairs).\(far) AND \(members).\(FamilyTable.entity) = \(other.number)"
                        + " WHERE \(pairs).\(own) = \(number)")
            }
        }
    }

    // MARK: Parameters

    private var last: String { "$\(parameters.count)" }

    private mutating func bind(_ add: (inout PostgreSQLParameters) -> Void) -> String {
        add(&parameters)
        return last
    }

    private mutating func bind(_ text: String) throws(Unsaid) -> String {
        do { try parameters.addText(text) } catch { throw Unsaid() }
        return last
    }

    private mutating func bind(_ data: Data) throws(Unsaid) -> String {
        do { try parameters.addBytes(data) } catch { throw Unsaid() }
        return last
    }

    private mutating func bind(_ decimal: StoredDecimal) -> String {
        bind { $0.addNumeric(PostgreSQLNumeric(decimal)) }
    }

    private mutating func bind(_ array: PostgreSQLArray) throws(Unsaid) -> String {
        do { try parameters.add(array) } catch { throw Unsaid() }
        return last
    }

    private mutating func bind(_ rows: Set<RowReference>) -> String { bindIntegers(rows.map { Int64($0.row) }.sorted()) }

    private mutating func bindIntegers(_ numbers: [Int64]) -> String {
        var array = PostgreSQLArray(of: .int8)
        for number in numbers { array.addInt64(number) }
        // A list of numbers stays below the limit of a gigabyte: it was in memory as a predicate.
        return (try? bind(array)) ?? "NULL"
    }
}

extension DestinationFilters {
    fileprivate func test(_ table: TableID) -> RowFilter? { list.first { $0.table == table }?.test }
}

extension PostgreSQLNumeric {
    init(_ decimal: StoredDecimal) {
        self.init(digits: decimal.mantissa, exponent: Int(decimal.exponent), isNegative: decimal.isNegative, isNaN: decimal.isNaN)
    }
}

extension String {
    /// The first text, by its bytes, behind all that begin with this one; nil where there is none.
    var endOfPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // Surrogates are no scalars.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars + [scalar])
            return text
        }
        return nil
    }
}
