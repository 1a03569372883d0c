import Foundation
import Heartwood
internal import HeartwoodSQLiteBuilder

/// The condition of a partial index in SQL, as Core Data writes it: `ZSTATE = 1`, `ZNAME IS NOT NULL`, `(ZKIND = 2 OR ZKIND = 4)`, `ZKIND <> 0`.
///
/// Only conditions that SQL says exactly are taken: comparisons of a property with a constant of its kind, tests for nil, and these joined. Decimals
/// are not, whose reals are not exact in Core Data's files, nor texts that are compared without case.
struct PartialIndexCondition {
    fileprivate indirect enum Node {
        case isNull(NSPropertyDescription, isNegated: Bool)
        case comparison(NSPropertyDescription, SQLiteRowCondition.Comparison, Constant)
        case not(Node)
        case and([Node])
        case or([Node])
    }

    enum Constant {
        case integer(Int64)
        case real(Double)
        case text(String)

        /// A number whose text every release of SQLite reads as the same real: at most fifteen digits, four of them behind the point.
        static func real(exactly number: Double) -> Constant? {
            if let whole = Int64(exactly: number), whole.magnitude < 1 << 53 { return .integer(whole) }
            let parts = "\(number.magnitude)".split(separator: ".")
            guard parts.count == 2, parts.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }), parts[1].count <= 4,
                parts[0].count + parts[1].count <= 15
            else { return nil }
            return .real(number)
        }
    }

    private let node: Node
    private let datesAreNumbers: Bool

    /// - Parameter datesAreNumbers: false where the file has dates as text.
    /// - Returns: nil for an index without a condition, and for a condition that is not taken.
    init?(_ index: NSFetchIndexDescription, of entity: NSEntityDescription, datesAreNumbers: Bool) {
        guard let predicate = index.partialIndexPredicate else { return nil }
        self.datesAreNumbers = datesAreNumbers
        guard let node = Self.node(predicate.node.joiningComposites(of: entity).folded, entity, datesAreNumbers) else { return nil }
        self.node = node
    }

    // MARK: From the predicate

    private static func node(_ node: PredicateNode, _ entity: NSEntityDescription, _ datesAreNumbers: Bool) -> Node? {
        func all(_ parts: [PredicateNode]) -> [Node]? {
            let made = parts.compactMap { self.node($0, entity, datesAreNumbers) }
            return made.isEmpty || made.count < parts.count ? nil : made
        }
        switch node {
        case .and(let parts): return all(parts).map { $0.count == 1 ? $0[0] : .and($0) }
        case .or(let parts): return all(parts).map { $0.count == 1 ? $0[0] : .or($0) }
        case .not(let part): return self.node(part, entity, datesAreNumbers).map(Node.not)
        case .comparison(let comparison): return self.comparison(comparison, entity, datesAreNumbers)
        case .constant, .words, .block, .fault: return nil
        }
    }

    private static func comparison(_ comparison: PredicateNode.Comparison, _ entity: NSEntityDescription, _ datesAreNumbers: Bool) -> Node? {
        guard comparison.modifier == .direct, comparison.options.effective.isEmpty else { return nil }
        let path: [String], value: PredicateValue, isTurned: Bool
        switch (comparison.left, comparison.right) {
        case (.keyPath(let left), .constant(let right)): (path, value, isTurned) = (left, right, false)
        case (.constant(let left), .keyPath(let right)): (path, value, isTurned) = (right, left, true)
        default: return nil
        }
        guard path.count == 1, let property = entity.propertiesByIndex.first(where: { $0.name == path[0] }), !property.isTransient,
            let made = SQLiteRowCondition.Comparison(comparison.comparison, isTurned: isTurned)
        else { return nil }
        if case .null = value {
            switch made {
            case .equal: return hasColumn(property) ? .isNull(property, isNegated: false) : nil
            case .notEqual: return hasColumn(property) ? .isNull(property, isNegated: true) : nil
            default: return nil
            }
        }
        // Not exactly: dates as text.
        guard datesAreNumbers || PropertyKind(property) != .date else { return nil }
        return PropertyKind(property).sqlite.constant(value).map { .comparison(property, made, $0) }
    }

    private static func hasColumn(_ property: NSPropertyDescription) -> Bool {
        let kind = PropertyKind(property)
        return kind != .toMany && kind.columnType != nil
    }

    // MARK: For a table

    /// - Parameters:
    ///   - column: the position of a property's column.
    ///   - name: the name of a column in a statement.
    /// - Returns: nil if a property has no column.
    func inTable(
        column: (NSPropertyDescription) -> Int?, name: (Int) -> String
    ) -> (text: String, condition: SQLiteRowCondition)? {
        Self.made(node, column, name)
    }

    private static func made(
        _ node: Node, _ column: (NSPropertyDescription) -> Int?, _ name: (Int) -> String
    ) -> (text: String, condition: SQLiteRowCondition)? {
        func all(_ parts: [Node], _ separator: String) -> (text: String, conditions: [SQLiteRowCondition])? {
            let made = parts.compactMap { self.made($0, column, name) }
            guard made.count == parts.count else { return nil }
            return ("(\(made.map(\.text).joined(separator: separator)))", made.map(\.condition))
        }
        switch node {
        case .isNull(let property, let isNegated):
            return column(property).map { column in
                let isNull = SQLiteRowCondition.isNull(column: column)
                return ("\(name(column)) IS \(isNegated ? "NOT NULL" : "NULL")", isNegated ? .not(isNull) : isNull)
            }
        case .comparison(let property, let comparison, let constant):
            return column(property).map { column in
                ("\(name(column)) \(comparison.sign) \(constant.text)", .comparison(column: column, comparison, constant.value))
            }
        case .not(let part):
            guard let made = made(part, column, name) else { return nil }
            return ("NOT (\(made.text))", .not(made.condition))
        case .and(let parts): return all(parts, " AND ").map { ($0.text, .and($0.conditions)) }
        case .or(let parts): return all(parts, " OR ").map { ($0.text, .or($0.conditions)) }
        }
    }
}

extension PartialIndexCondition.Constant {
    fileprivate var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): SQLText.literal(text)
        }
    }

    fileprivate var value: SQLiteConstant {
        switch self {
        case .integer(let number): SQLiteConstant(integer: number)
        case .real(let number): SQLiteConstant(real: number)
        case .text(let text): SQLiteConstant(text: text)
        }
    }
}

extension SQLiteRowCondition.Comparison {
    /// - Parameter isTurned: whether the constant is on the left.
    fileprivate init?(_ comparison: PredicateNode.Operator, isTurned: Bool) {
        switch comparison {
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = isTurned ? .greater : .less
        case .lessOrEqual: self = isTurned ? .greaterOrEqual : .lessOrEqual
        case .greater: self = isTurned ? .less : .greater
        case .greaterOrEqual: self = isTurned ? .lessOrEqual : .greaterOrEqual
        case .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches: return nil
        }
    }

    fileprivate var sign: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
