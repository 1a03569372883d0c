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
