import Foundation
import Heartwood

/// A transaction of a store of Heartwood's.
///
/// Source: https://developer.apple.com/documentation/swiftdata/defaulthistorytransaction
public struct DefaultHistoryTransaction: HistoryTransaction {
    public typealias TransactionIdentifier = Int64
    public typealias TokenType = DefaultHistoryToken

    public let timestamp: Date
    /// One change for each model that the save changed.
    public let changes: [HistoryChange]
    public let token: DefaultHistoryToken
    /// It rises from transaction to transaction of a store.
    public let transactionIdentifier: Int64
    public let storeIdentifier: String
    public let bundleIdentifier: String
    public let processIdentifier: String
    public let author: String?

    public var id: Int64 { transactionIdentifier }

    public static func == (a: DefaultHistoryTransaction, b: DefaultHistoryTransaction) -> Bool {
        a.storeIdentifier == b.storeIdentifier && a.transactionIdentifier == b.transactionIdentifier && a.timestamp == b.timestamp
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storeIdentifier)
        hasher.combine(transactionIdentifier)
    }
}

/// Source: https://developer.apple.com/documentation/swiftdata/defaulthistoryinsert
public struct DefaultHistoryInsert<Model: PersistentModel>: HistoryInsert {
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
}

/// Source: https://developer.apple.com/documentation/swiftdata/defaulthistoryupdate
public struct DefaultHistoryUpdate<Model: PersistentModel>: HistoryUpdate, @unchecked Sendable {
    // Unchecked: key paths of properties are immutable.

    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]
}

/// Source: https://developer.apple.com/documentation/swiftdata/defaulthistorydelete
public struct DefaultHistoryDelete<Model: PersistentModel>: HistoryDelete {
    public let changeIdentifier: Int64
    public let transactionIdentifier: Int64
    public let changedPersistentIdentifier: PersistentIdentifier
    public let tombstone: HistoryTombstone<Model>
}

// MARK: From the store's changes

extension HistoryChange {
    /// A change of a model's class. A class that the schema lacks is stood for.
    init(_ change: NSPersistentHistoryChange, in transaction: Int64, _ mapped: MappedModel) {
        let entity = change.changedObjectID.entity
        let type = mapped.type(named: entity.name ?? "")?.type ?? AbsentModel.self
        self = Self.make(type, change, transaction, mapped.entity(entity))
    }

    private static func make<Model: PersistentModel>(
        _: Model.Type, _ change: NSPersistentHistoryChange, _ transaction: Int64, _ entity: MappedEntity
    ) -> HistoryChange {
        let identifier = PersistentIdentifier(change.changedObjectID)
        switch change.changeType {
        case .insert:
            return .insert(
                DefaultHistoryInsert<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction, changedPersistentIdentifier: identifier))
        case .update:
            return .update(
                DefaultHistoryUpdate<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction, changedPersistentIdentifier: identifier,
                    updatedAttributes: keyPaths(of: Set(change.updatedProperties?.map(\.name) ?? []))))
        case .delete:
            let tombstone = HistoryTombstone<Model>(values: preserved(change.tombstone, entity))
            return .delete(
                DefaultHistoryDelete<Model>(
                    changeIdentifier: change.changeID, transactionIdentifier: transaction, changedPersistentIdentifier: identifier,
                    tombstone: tombstone))
        }
    }

    /// A property of a class above is read through the class that declares it: no key path of the class itself is known for it.
    private static func keyPaths<Model: PersistentModel>(of names: Set<String>) -> [any PartialKeyPath<Model> & Sendable] {
        ModelType.of(Model.self).properties.compactMap { property in
            guard names.contains(property.name) else { return nil }
            let keyPath = (property.keyPath as? PartialKeyPath<Model>) ?? \Model[inherited: InheritedProperty(property)]
            return unsafeDowncast(keyPath, to: (any PartialKeyPath<Model> & Sendable).self)
        }
    }

    /// The values in their types: they are set in an object without a context, and read from it as those of a model are.
    private static func preserved(_ tombstone: [AnyHashable: Any]?, _ entity: MappedEntity) -> [(name: String, value: Any)] {
        guard let tombstone, !tombstone.isEmpty else { return [] }
        let object = ModelObject(entity: entity.entity, insertInto: nil)
        return entity.allPlaces.compactMap { place in
            guard let coding = place.coding, let attribute = place.attribute, let stored = tombstone[place.property.name]
            else { return nil }
            object.setValue(stored, forKey: place.property.name)
            return coding.readAny(object, at: attribute).flatMap(Unwrapping.value).map { (place.property.name, $0) }
        }
    }
}

/// A property that a class above declares. Two are equal if they are one property.
struct InheritedProperty: Hashable, @unchecked Sendable {
    // Unchecked: key paths are immutable.
    let keyPath: AnyKeyPath

    init(_ property: ModelProperty) { keyPath = property.keyPath }
}

extension PersistentModel {
    /// The value of a property that a class above declares.
    subscript(inherited property: InheritedProperty) -> Any? { self[keyPath: property.keyPath] }
}
