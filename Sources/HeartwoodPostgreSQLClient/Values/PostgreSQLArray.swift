/// An array of one dimension as a parameter: a column of the rows that `unnest` makes of it.
package struct PostgreSQLArray: PostgreSQLValueWriter, Sendable {
    package var bytes: [UInt8] = []
    package let element: PostgreSQLType
    let type: PostgreSQLType
    package private(set) var count = 0

    /// - Parameter element: the type of all elements, and one of those that `PostgreSQLValueWriter` adds.
    package init(of element: PostgreSQLType) {
        guard let type = element.array else { preconditionFailure("parameters have no arrays of type \(element.number)") }
        self.element = element
        self.type = type
    }

    package mutating func count(_ type: PostgreSQLType) {
        precondition(type == element, "an array of type \(element.number) got a value of type \(type.number)")
        count += 1
    }

    package mutating func addNull() { addNull(element) }

    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        count = 0
    }

    /// The bytes before the elements: dimensions, a flag for nulls, the element's type, the count, the first index.
    private static let headBytes = 20

    func append(to out: inout [UInt8]) {
        out.appendBigEndian(Int32(Self.headBytes + bytes.count))
        out.appendBigEndian(Int32(1))
        // The server looks for nulls itself where this flag is set.
        out.appendBigEndian(Int32(1))
        out.appendBigEndian(element.number)
        out.appendBigEndian(Int32(count))
        out.appendBigEndian(Int32(1))
        out.append(contentsOf: bytes)
    }
}
