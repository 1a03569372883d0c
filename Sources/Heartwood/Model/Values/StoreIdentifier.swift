/// What a store is called, in its objects' URIs and where two stores are told apart.
struct StoreIdentifier {
    private let known: String
    private let holder: (any IdentifierHolder)?

    init(_ text: String) {
        known = text
        holder = nil
    }

    /// Reads the identifier when it is asked for first: most programs that open a store never ask.
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
