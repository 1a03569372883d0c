import Foundation

/// A predicate as a tree: what the format language parses to, what evaluates in memory, and what a store compiles.
indirect enum PredicateNode {
    case constant(Bool)
    case and([PredicateNode])
    case or([PredicateNode])
    case not(PredicateNode)
    case comparison(Comparison)

    struct Comparison {
        var left: ExpressionNode
        var comparison: Operator
        var right: ExpressionNode
        var modifier = Modifier.direct
        var options: Options = []
    }

    enum Operator: String {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case isIn = "IN"
        case contains = "CONTAINS"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case like = "LIKE"
        case matches = "MATCHES"

        /// Whether it compares text by a pattern.
        var isTextual: Bool {
            switch self {
            case .contains, .beginsWith, .endsWith, .like, .matches: true
            default: false
            }
        }
    }

    /// How a comparison treats a collection on its left.
    enum Modifier: String {
        case direct = ""
        case any = "ANY"
        case all = "ALL"
    }

    struct Options: OptionSet {
        let rawValue: Int

        static let caseInsensitive = Options(rawValue: 1)
        static let diacriticInsensitive = Options(rawValue: 2)
    }
}

/// One side of a comparison.
indirect enum ExpressionNode {
    case constant(PredicateValue)
    /// Keys, the last of which may be a collection operator such as `@count`; empty for SELF.
    case keyPath([String])
    case aggregate([ExpressionNode])
    case variable(String)
}

/// A value inside a predicate, or that a key path gave.
indirect enum PredicateValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case text(String)
    case date(Double)
    case uuid(UUID)
    case data(Data)
    case url(URL)
    case object(NSManagedObject)
    case objectID(NSManagedObjectID)
    case collection([PredicateValue])
    /// Something that predicates cannot compare.
    case other(AnyObject)

    init(_ value: Any?) {
        switch value {
        case nil, is NSNull: self = .null
        case let value as PredicateValue: self = value
        case let value as NSManagedObject: self = .object(value)
        case let value as NSManagedObjectID: self = .objectID(value)
        case let value as Bool where type(of: value) == Bool.self: self = .bool(value)
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as NSNumber: self = .number(value)
        case let value as Decimal: self = .decimal(value)
        case let value as String: self = .text(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Int64: self = .integer(value)
        case let value as Int32: self = .integer(Int64(value))
        case let value as Int16: self = .integer(Int64(value))
        case let value as Int8: self = .integer(Int64(value))
        case let value as UInt8: self = .integer(Int64(value))
        case let value as UInt16: self = .integer(Int64(value))
        case let value as UInt32: self = .integer(Int64(value))
        case let value as UInt: self = Int64(exactly: value).map(PredicateValue.integer) ?? .decimal(Decimal(UInt64(value)))
        case let value as UInt64: self = Int64(exactly: value).map(PredicateValue.integer) ?? .decimal(Decimal(value))
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as Date: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as UUID: self = .uuid(value)
        case let value as Data: self = .data(value)
        case let value as URL: self = .url(value)
        case let value as NSSet: self = .collection(value.allObjects.map(PredicateValue.init))
        case let value as NSOrderedSet: self = .collection(value.array.map(PredicateValue.init))
        case let value as NSArray: self = .collection(value.map { PredicateValue($0) })
        case let value as [Any]: self = .collection(value.map(PredicateValue.init))
        case let value as Set<AnyHashable>: self = .collection(value.map { PredicateValue($0.base) })
        case let value?: self = .other(value as AnyObject)
        }
    }

    private static func number(_ value: NSNumber) -> PredicateValue {
        switch UInt8(bitPattern: value.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .double(value.doubleValue)
        case UInt8(ascii: "Q"):
            Int64(exactly: value.uint64Value).map(PredicateValue.integer) ?? .decimal(Decimal(value.uint64Value))
        default: .integer(value.int64Value)
        }
    }

    /// The members of a collection; nil for anything else.
    var members: [PredicateValue]? {
        if case .collection(let members) = self { return members }
        return nil
    }

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}
