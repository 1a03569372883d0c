import Foundation

/// A value in a predicate, or the result of a key path.
package enum PredicateValue {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    // Indirect, since it is larger than all others: these then need no allocation and stay small.
    indirect case decimal(Decimal)
    case text(String)
    case date(Double)
    case uuid(UUID)
    case data(Data)
    case url(URL)
    case object(any EntityObject)
    case objectID(NSManagedObjectID)
    case collection([PredicateValue])
    /// An object that predicates cannot compare.
    case other(AnyObject)

    /// Converts an argument like `init(_:)`, without a cast for the most common types.
    init(argument: any CVarArg) {
        func known<Argument>(_ value: borrowing Argument) -> PredicateValue? {
            withUnsafePointer(to: value) { address in
                let address = UnsafeRawPointer(address)
                if Argument.self == String.self { return .text(address.assumingMemoryBound(to: String.self).pointee) }
                if Argument.self == Int.self { return .integer(Int64(address.assumingMemoryBound(to: Int.self).pointee)) }
                if Argument.self == Double.self { return .double(address.assumingMemoryBound(to: Double.self).pointee) }
                return nil
            }
        }
        self = known(argument) ?? PredicateValue(argument as Any)
    }

    package init(_ value: Any?) {
        guard let value else {
            self = .null
            return
        }
        // The most common types are tested for identity first, since a cast searches for bridging.
        let type = type(of: value)
        if type == String.self, let text = value as? String {
            self = .text(text)
            return
        }
        if type == Int.self, let number = value as? Int {
            self = .integer(Int64(number))
            return
        }
        if type == Double.self, let number = value as? Double {
            self = .double(number)
            return
        }
        if type == Date.self, let date = value as? Date {
            self = .date(date.timeIntervalSinceReferenceDate)
            return
        }
        if type is NSManagedObjectID.Type, let id = value as? NSManagedObjectID {
            self = .objectID(id)
            return
        }
        if let list = value as? any PredicateValueList {
            self = .collection(list.predicateValues)
            return
        }
        switch value {
        case is NSNull: self = .null
        case let value as PredicateValue: self = value
        case let value as any EntityObject: self = .object(value)
        case let value as NSManagedObjectID: self = .objectID(value)
        // A number object that is 0 or 1 would also cast to Bool.
        case let flag as Bool where type == Bool.self: self = .bool(flag)
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
        // Types that bridge to a number or a text on Apple's platforms: CGFloat, Float16, Substring.
        case let value as any BinaryFloatingPoint: self = .double(Double(value))
        case let value as Substring: self = .text(String(value))
        default:
            // An empty optional inside an Any becomes NSNull.
            let object = value as AnyObject
            self = object is NSNull ? .null : .other(object)
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
    package var members: [PredicateValue]? {
        if case .collection(let members) = self { return members }
        return nil
    }

    var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension PredicateValue {
    /// The value as Core Data returns it: numbers as `NSNumber`, a collection as an array with `NSNull` for null.
    var object: Any? {
        switch self {
        case .null: nil
        case .bool(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .text(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .uuid(let value): value
        case .data(let value): value
        case .url(let value): value
        case .object(let value): value
        case .objectID(let value): value
        case .collection(let members): members.map { $0.object ?? NSNull() }
        case .other(let value): value
        }
    }
}
