import Foundation

/// Values of types that are known only when an accessor requires one. The recorder observes which properties a key path reads, and ignores its
/// result.
enum Placeholder {
    /// An empty collection or text, a case of an enumeration whose raw value is a small number, or a Foundation object; nil for other types.
    static func value<Value>() -> Value? {
        switch Value.self {
        case let type as any ExpressibleByArrayLiteral.Type: empty(type) as? Value
        case let type as any ExpressibleByDictionaryLiteral.Type: empty(type) as? Value
        case let type as any RangeReplaceableCollection.Type: empty(type) as? Value
        case let type as any RawRepresentable.Type: anyCase(type) as? Value
        default: objects.lazy.compactMap { $0 as? Value }.first
        }
    }

    private static func empty<List: ExpressibleByArrayLiteral>(_: List.Type) -> Any { [] as List }
    private static func empty<Map: ExpressibleByDictionaryLiteral>(_: Map.Type) -> Any { [:] as Map }
    private static func empty<List: RangeReplaceableCollection>(_: List.Type) -> Any { List() }

    private static func anyCase<Case: RawRepresentable>(_: Case.Type) -> Any? {
        let numbers = (-1...1000).lazy.compactMap { (NSNumber(value: $0) as? Case.RawValue).flatMap { Case(rawValue: $0) } }
        return numbers.first ?? ("" as? Case.RawValue).flatMap { Case(rawValue: $0) }
    }

    private static var objects: [Any] {
        [
            NSObject(), NSManagedObjectID(), NSArray(), NSDictionary(), NSSet(), NSOrderedSet(), NSNumber(value: 0), NSString(), NSData(), NSDate(),
            NSNull(),
        ]
    }
}
