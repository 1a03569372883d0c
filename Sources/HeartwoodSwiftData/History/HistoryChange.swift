import Foundation

/// A change of one model.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historychange
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// Source: https://developer.apple.com/documentation/swiftdata/historyinsert
public protocol HistoryInsert<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier
    associatedtype ChangeIdentifier

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// Source: https://developer.apple.com/documentation/swiftdata/historyupdate
public protocol HistoryUpdate<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier
    associatedtype ChangeIdentifier
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The properties that the change set.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// Source: https://developer.apple.com/documentation/swiftdata/historydelete
public protocol HistoryDelete<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype TransactionIdentifier
    associatedtype ChangeIdentifier

    var changeIdentifier: ChangeIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    /// The values that the model had in properties declared with `.preserveValueOnDeletion`.
    var tombstone: HistoryTombstone<Model> { get }
}

/// The preserved values of a deleted model.
///
/// Source: https://developer.apple.com/documentation/swiftdata/historytombstone
public struct HistoryTombstone<Model: PersistentModel>: Sequence, @unchecked Sendable {
    // Unchecked: the values are of the program's Codable types, made for this tombstone, and nothing changes them.

    private let values: [(name: String, value: Any)]

    init(values: [(name: String, value: Any)]) { self.values = values }

    /// The value that the property had; nil if it had none, or is not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let path = try? PropertyPath.of(keyPath, root: ModelType.of(Model.self)), path.keys.count == 1, let name = path.property?.name,
            let value = values.first(where: { $0.name == name })?.value
        else { return nil }
        // The protocol has no requirement, so a value of it is laid out as one of Any. The values are Sendable; see above.
        return unsafeBitCast(value as Any, to: (any Sendable).self)
    }

    public func makeIterator() -> Iterator { Iterator(rest: values[...]) }

    /// Gives the values, in the order of the class's properties.
    public struct Iterator: IteratorProtocol {
        fileprivate var rest: ArraySlice<(name: String, value: Any)>

        public mutating func next() -> Any? { rest.popFirst()?.value }
    }
}
