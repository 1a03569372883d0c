import Foundation
import RecordLog
import Synchronization

/// The name of a managed object, for as long as its store exists; temporary until the object is first saved.
///
/// Two IDs are equal where they name the same object of the same store. IDs may cross threads; objects may not.
/// Source: https://developer.apple.com/documentation/coredata/nsmanagedobjectid
open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    // Unchecked: every stored property is immutable, and the store reference is weak, which Swift makes atomic.

    /// The entity of the object.
    public final let entity: NSEntityDescription
    /// The store that holds the object; nil for a temporary ID, and once the store has been removed.
    private(set) final weak var holder: (any IdentifyingStore)?
    final let key: ObjectKey
    private let storeIdentifier: StoreIdentifier
    /// What a store of somebody's own calls the object, whose row numbers are this coordinator's alone; nil where the row number says it.
    private let name: String?
    /// Tells the temporary objects of one tree of contexts from those of another.
    final let contextToken: UInt64

    init(entity: NSEntityDescription, key: ObjectKey, store: (any IdentifyingStore)?, contextToken: UInt64) {
        self.entity = entity
        self.key = key
        self.contextToken = key.isTemporary ? contextToken : 0
        holder = key.isTemporary ? nil : store
        storeIdentifier = key.isTemporary ? StoreIdentifier("") : store?.nameOfObjects ?? StoreIdentifier("")
        name = key.isTemporary ? nil : store?.name(of: key)
    }

    /// An ID that names no object, for a subclass of the program's; it counts as temporary.
    public override init() {
        entity = NSEntityDescription()
        key = Self.keyOfNoContext()
        contextToken = 0
        storeIdentifier = StoreIdentifier("")
        name = nil
        super.init()
    }

    /// The ID of an object that has been in no context so far: nobody else has the same.
    convenience init(ofNoContext entity: NSEntityDescription) {
        self.init(entity: entity, key: Self.keyOfNoContext(), store: nil, contextToken: 0)
    }

    private static func keyOfNoContext() -> ObjectKey {
        ObjectKey(slot: .max, row: madeOfNoContext.wrappingAdd(1, ordering: .relaxed).newValue | ObjectKey.temporaryBit)
    }

    private static let madeOfNoContext = Atomic<UInt64>(0)

    final var isOfNoContext: Bool { key.isTemporary && contextToken == 0 }

    /// Whether the object has never been saved. The permanent ID that a save gives is another object.
    open var isTemporaryID: Bool { key.isTemporary }

    /// `x-coredata://STORE/ENTITY/pROW`, or `x-coredata:///ENTITY/tNUMBER` while temporary. A store of a class of your own has its
    /// reference object in the place of ROW.
    open func uriRepresentation() -> URL {
        let entity = entity.name ?? ""
        let path = entity.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entity
        let text = key.isTemporary
            ? "x-coredata:///\(path)/t\(contextToken)-\(key.row & ~ObjectKey.temporaryBit)"
            : "x-coredata://\(Self.host(of: storeIdentifier.text))/\(path)/p\(name ?? String(key.row))"
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }

    /// A store's identity as a URI has it: that of a store of somebody's own may be any text.
    private static func host(of identifier: String) -> String {
        identifier.addingPercentEncoding(withAllowedCharacters: hostCharacters) ?? identifier
    }

    private static let hostCharacters = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        guard self !== other else { return true }
        guard !key.isTemporary else { return key == other.key && contextToken == other.contextToken }
        // The slot is its coordinator's own, and another one once the store was removed and added again.
        guard !other.key.isTemporary, key.row == other.key.row || name != nil, name == other.name else { return false }
        return (entity === other.entity || entity.name == other.entity.name) && storeIdentifier == other.storeIdentifier
    }

    /// The key of the object in this store, as `isEqual(_:)` has it: also where the ID is of another coordinator's store over the same
    /// file, or of before the store was removed and added again.
    /// - Returns: nil where it names no object of the store.
    final func key(in store: any IdentifyingStore) -> ObjectKey? {
        guard !key.isTemporary else { return nil }
        if holder === store { return key }
        guard storeIdentifier == store.nameOfObjects else { return nil }
        return store.currentKey(of: self)
    }

    /// The same in the store among several whose object it is.
    final func key(among stores: [some IdentifyingStore]) -> ObjectKey? {
        stores.first { $0.nameOfObjects == storeIdentifier }.flatMap { key(in: $0) }
    }

    /// What a store is asked for a row's key: the name, or the row's number.
    final var nameInStore: String { name?.removingPercentEncoding ?? String(key.row) }

    open override var hash: Int {
        var hasher = Hasher()
        if let name { hasher.combine(name) } else { hasher.combine(key.row) }
        // Each entity numbers its rows anew.
        hasher.combine(entity.name)
        hasher.combine(contextToken)
        return hasher.finalize()
    }

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override var description: String { "<x-coredata \(uriRepresentation().absoluteString)>" }
}
