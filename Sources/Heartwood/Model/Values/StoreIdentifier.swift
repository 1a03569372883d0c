import Foundation

/// A store's identifier. It is part of its objects' URIs and distinguishes stores.
package struct StoreIdentifier {
    private let known: String
    private let holder: (any IdentifierHolder)?

    init(_ text: String) {
        known = text
        holder = nil
    }

    /// Reads the identifier on first use, since most programs that open a store never need it.
    init(in holder: any IdentifierHolder) {
        known = ""
        self.holder = holder
    }

    var text: String { holder?.identifier ?? known }

    static func == (a: StoreIdentifier, b: StoreIdentifier) -> Bool {
        if let holder = a.holder, holder === b.holder { return true }
        return a.text == b.text
    }
}

/// Metadata that has a store's identifier.
protocol IdentifierHolder: AnyObject {
    var identifier: String { get }
}

/// A store as the IDs of its objects see it. Only `NSPersistentStore` in the Graph layer conforms.
package protocol IdentifyingStore: NSObject {
    /// Adding a row reference's bits to this gives the object's key in the coordinator.
    var slotBase: UInt64 { get }
    /// Differs from those of all stores that the process has made before; not 0.
    var serialNumber: UInt64 { get }
    /// The store's identity in object IDs.
    var nameOfObjects: StoreIdentifier { get }
    /// The name that a store of the program's own class gives an object; nil if the row number is the name.
    func name(of key: ObjectKey) -> String?
    /// The key in this store for an ID of another coordinator, or for an ID from before the store was removed and added again.
    func currentKey(of id: NSManagedObjectID) -> ObjectKey?
}
