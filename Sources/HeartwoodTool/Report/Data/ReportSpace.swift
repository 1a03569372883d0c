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

    /// A part of the file that is mapped at once.
    struct Segment: Encodable {
        var bytes: UInt64
        var rows: UInt64
        var indexes: UInt64
        var dead: UInt64
    }

    struct Value: Encodable {
        /// As `ReportRows.Row.id`.
        var id: String
        var name: String
        var bytes: UInt64
    }

    var bytes: UInt64
    /// Largest first.
    var parts: [Part]
    /// nil where the file has no segments, or its indexes are damaged.
    var segments: [Segment]?
    /// Values with space of their own, the largest first.
    var values: [Value] = []
    /// One sentence: what a compaction would bring.
    var compaction: String
}
