/// Statements that the client sends in one round trip, one after the other.
///
/// The server stops at the first error. The statements before it remain or not, as the transaction does: begin with `begin`.
package struct PostgreSQLBatch: Sendable {
    struct Item: Sendable {
        let statement: PostgreSQLStatement
        let parameters: PostgreSQLParameters
    }

    private(set) var items: [Item] = []

    package var count: Int { items.count }
    /// The bytes of all parameters.
    package private(set) var byteCount = 0

    package init() {}

    package mutating func add(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters = PostgreSQLParameters()) {
        items.append(Item(statement: statement, parameters: parameters))
        byteCount += parameters.bytes.count
    }

    package static func + (first: PostgreSQLBatch, second: PostgreSQLBatch) -> PostgreSQLBatch {
        var all = first
        all.items += second.items
        all.byteCount += second.byteCount
        return all
    }
}
