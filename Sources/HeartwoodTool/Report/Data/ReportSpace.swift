/// Where a file's bytes are.
struct ReportSpace: Encodable {
    enum Kind: String, Encodable {
        case rows, values, index, dead, other
    }

    struct Part: Encodable {
        var name: String
        var kind: Kind
        var bytes: UInt64
        /// Rows, values or entries.
        var count: Int?
    }

    var bytes: UInt64
    /// Largest first.
    var parts: [Part]
}
