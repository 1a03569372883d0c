import Foundation
import RecordLog
import Synchronization

/// The identity of a managed object for as long as its store exists. It is temporary until the object is first saved.
///
/// Two IDs are equal if they identify the same object of the same store. IDs may cross threads; objects may not.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectid
open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: every stored property is immutable except the weak reference to the store, and Swift makes weak references atomic.

    /// The entity of the object.
    public final let entity: NSEntityDescription
    /// The object's store; nil for a temporary ID, and after the store was removed.
    private(set) final weak var holder: (any IdentifyingStore)?
    /// The store's serial number; 0 for a temporary ID.
    final let serialNumber: UInt64
    package final let key: ObjectKey
    private let storeIdentifier: StoreIdentifier
    /// The object's name in a store of the program's own class, whose row numbers only this coordinator knows; nil if the row number is the name.
    private let name: String?
    /// Distinguishes the temporary objects of different trees of contexts.
    final let contextToken: UInt64

    package init(entity: NSEntityDescription, key: ObjectKey, store: (any IdentifyingStore)?, contextToken: UInt64) {
        self.entity = entity
        self.key = key
        self.contextToken = key.isTemporary ? contextToken : 0
        holder = key.isTemporary ? nil : store
        serialNumber = key.isTemporary ? 0 : store?.serialNumber ?? 0
        storeIdentifier = key.isTemporary ? StoreIdentifier("") : store?.nameOfObjects ?? StoreIdentifier("")
        name = key.isTemporary ? nil : store?.name(of: key)
    }

    /// An ID that identifies no object, for a subclass of the program's. It counts as temporary.
    public override init() {
        entity = NSEntityDescription()
        key = Self.keyOfNoContext()
        contextToken = 0
        serialNumber = 0
        storeIdentifier = StoreIdentifier("")
        name = nil
        super.init()
    }

    /// A unique ID for an object that has never been in a context.
    convenience init(ofNoContext entity: NSEntityDescription) {
        self.init(entity: entity, key: Self.keyOfNoContext(), store: nil, contextToken: 0)
    }

    private static func keyOfNoContext() -> ObjectKey {
        ObjectKey(slot: .max, row: madeOfNoContext.wrappingAdd(1, ordering: .relaxed).newValue | ObjectKey.temporaryBit)
    }

    private static let madeOfNoContext = Atomic<UInt64>(0)

    /// A number that grows whenever objects have got other IDs than they had. Code that keeps the hash of an unsaved object's ID compares it.
    static var changes: UInt64 { changesMade.load(ordering: .acquiring) }
    static func noteChanges() { changesMade.wrappingAdd(1, ordering: .releasing) }
    private static let changesMade = Atomic<UInt64>(0)

    final var isOfNoContext: Bool { key.isTemporary && contextToken == 0 }

    /// Whether the object had not been saved when it got this ID. A save gives it a new, permanent ID.
    open var isTemporaryID: Bool { key.isTemporary }

    /// `x-coredata://STORE/ENTITY/pROW`, or `x-coredata:///ENTITY/tNUMBER` for a temporary ID. For a store of your own class the reference object
    /// replaces ROW.
    open func uriRepresentation() -> URL {
        let entity = entity.name ?? ""
        guard key.isTemporary else { return Self.uri(store: storeIdentifier.text, entity: entity, escaped: name ?? String(key.row)) }
        return URL(string: "x-coredata:///\(Self.escaped(entity))/t\(contextToken)-\(key.row & ~ObjectKey.temporaryBit)") ?? URL(fileURLWithPath: "/")
    }

    /// The URI of an object with this name in a store with this identity.
    package static func uri(store: String, entity: String, name: String) -> URL { uri(store: store, entity: entity, escaped: escaped(name)) }

    private static func uri(store: String, entity: String, escaped name: String) -> URL {
        URL(string: "x-coredata://\(host(of: store))/\(escaped(entity))/p\(name)") ?? URL(fileURLWithPath: "/")
    }

    private static func escaped(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: nameCharacters) ?? name }

    /// The store's identity, the entity's name and the object's name in a URI, with `p` in front; nil if it is the URI of no saved object.
    package static func parts(of url: URL) -> (store: String, entity: String, object: String)? {
        guard url.scheme == "x-coredata", let host = url.host(percentEncoded: true)?.removingPercentEncoding else { return nil }
        // A name may contain a slash, which is percent-encoded.
        let parts = url.path(percentEncoded: true).split(separator: "/").compactMap { String($0).removingPercentEncoding }
        return parts.count == 2 && parts[1].hasPrefix("p") ? (host, parts[0], parts[1]) : nil
    }

    /// A store's identity, escaped for a URI. A store of the program's own class may use any text.
    private static func host(of identifier: String) -> String {
        identifier.addingPercentEncoding(withAllowedCharacters: hostCharacters) ?? identifier
    }

    /// Those of a segment of a path.
    private static let nameCharacters = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))

    private static let hostCharacters = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        guard self !== other else { return true }
        guard !key.isTemporary else { return key == other.key && contextToken == other.contextToken }
        // The slot belongs to the coordinator, and changes when a store is removed and added again.
        guard !other.key.isTemporary, key.row == other.key.row || name != nil, name == other.name else { return false }
        return (entity === other.entity || entity.name == other.entity.name) && storeIdentifier == other.storeIdentifier
    }

    /// The key of the object in this store. Like `isEqual(_:)` it also accepts an ID of another coordinator's store over the same file, and an ID
    /// from before the store was removed and added again.
    /// - Returns: nil if the ID identifies no object of the store.
    package final func key(in store: any IdentifyingStore) -> ObjectKey? {
        guard !key.isTemporary else { return nil }
        if holder === store { return key }
        guard storeIdentifier == store.nameOfObjects else { return nil }
        return store.currentKey(of: self)
    }

    /// The key of the object in the one of several stores that has it.
    final func key(among stores: [some IdentifyingStore]) -> ObjectKey? {
        stores.first { $0.nameOfObjects == storeIdentifier }.flatMap { key(in: $0) }
    }

    /// The object's name in its store: the name that the store gave, or the row number.
    final var nameInStore: String { name?.removingPercentEncoding ?? String(key.row) }

    open override var hash: Int {
        var hasher = Hasher()
        if let name { hasher.combine(name) } else { hasher.combine(key.row) }
        // Each entity numbers its rows from the start.
        hasher.combine(entity.name)
        hasher.combine(contextToken)
        return hasher.finalize()
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override var description: String { "<x-coredata \(uriRepresentation().absoluteString)>" }
}
