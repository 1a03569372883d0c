import Foundation
import RecordLog

/// The name of a managed object, for as long as its store exists; temporary until the object is first saved.
///
/// Two IDs are equal where they name the same object of the same store. IDs may cross threads; objects may not.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectid
public final class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: every stored property is immutable, and the store reference is weak, which Swift makes atomic.

    /// The entity of the object.
    public let entity: NSEntityDescription
    /// The store that holds the object; nil for a temporary ID, and once the store has been removed.
    public private(set) weak var persistentStore: NSPersistentStore?
    let key: ObjectKey
    private let storeIdentifier: String
    /// Tells the temporary objects of one tree of contexts from those of another.
    let contextToken: UInt64

    init(entity: NSEntityDescription, key: ObjectKey, store: NSPersistentStore?, contextToken: UInt64) {
        self.entity = entity
        self.key = key
        self.contextToken = key.isTemporary ? contextToken : 0
        persistentStore = key.isTemporary ? nil : store
        storeIdentifier = key.isTemporary ? "" : (store?.identifier ?? "")
    }

    /// Whether the object has never been saved. The permanent ID that a save gives is another object.
    public var isTemporaryID: Bool { key.isTemporary }

    /// `x-coredata://STORE/ENTITY/pROW`, or `x-coredata:///ENTITY/tNUMBER` while temporary. A store of a class of your own has its
    /// reference object in the place of ROW.
    public func uriRepresentation() -> URL {
        let name = entity.name ?? ""
        let path = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        let text = isTemporaryID
            ? "x-coredata:///\(path)/t\(contextToken)-\(key.row & ~ObjectKey.temporaryBit)"
            : "x-coredata://\(storeIdentifier)/\(path)/p\(persistentStore?.name(of: key) ?? String(key.row))"
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return self === other || key == other.key && contextToken == other.contextToken
            && storeIdentifier == other.storeIdentifier
    }

    /// Whether it names a row of this store, as `isEqual(_:)` has it: of another coordinator's store over the same file too.
    func isRow(of store: NSPersistentStore) -> Bool {
        !isTemporaryID && (persistentStore === store || storeIdentifier == store.identifier)
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(contextToken)
        hasher.combine(storeIdentifier)
        return hasher.finalize()
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { "<x-coredata \(uriRepresentation().absoluteString)>" }
}
