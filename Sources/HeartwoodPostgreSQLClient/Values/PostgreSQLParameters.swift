/// The values of a statement's parameters `$1`, `$2` and so on, in binary form.
///
/// The types belong to the statement's shape: a null is given the type that the value would have, so that the statement is prepared once.
package struct PostgreSQLParameters: PostgreSQLValueWriter, Sendable {
    package var bytes: [UInt8] = []
    @usableFromInline
    package private(set) var types: [PostgreSQLType] = []

    /// The most parameters of a statement: the protocol counts them in two bytes.
    package static let countMax = 65_535

    package init() {}

    package var count: Int { types.count }

    package mutating func count(_ type: PostgreSQLType) { types.append(type) }

    package mutating func add(_ array: PostgreSQLArray) throws(PostgreSQLError) {
        if let fault = PostgreSQLValueLimit.fault(count: array.bytes.count) { throw fault }
        count(array.type)
        array.append(to: &bytes)
    }

    /// Adds the only element of an array as a value of its own.
    package mutating func add(only array: PostgreSQLArray) {
        precondition(array.count == 1, "\(array.count) elements are not one value")
        count(array.element)
        bytes += array.bytes
    }

    /// Takes all values away and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
    }
}
