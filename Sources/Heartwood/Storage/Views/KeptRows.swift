import Foundation
import RecordLog

/// Copies of rows whose own memory is released. A copy keeps its address as long as this object lives.
///
/// The context that makes the copies adds them before it shares this object. After that nothing in it changes, so contexts on several queues may
/// share it.
package final class KeptRows: @unchecked Sendable {
    // Unchecked: see above.

    /// A property of a copied row.
    private struct ValueKey: Hashable {
        let body: UnsafeRawPointer
        let property: Int
    }

    private var memory = RowBlocks()
    private var values: [ValueKey: Data] = [:]

    var isEmpty: Bool { memory.isEmpty }

    /// - Complexity: O(bytes of the row).
    func copy(_ row: UnsafeRowView) -> UnsafeRowView {
        let copy = memory.take(row.byteCount)
        copy.copyMemory(from: row.body, byteCount: row.byteCount)
        return UnsafeRowView(body: UnsafeRawPointer(copy), byteCount: row.byteCount, reference: row.reference, version: row.version)
    }

    /// Stores a value that is stored outside its row.
    func keep(_ value: Data, of property: Int, in copy: UnsafeRowView) {
        values[ValueKey(body: copy.body, property: property)] = value
    }

    /// Returns nil where the row is not one of these copies, or where the value could not be read when the row was copied.
    func value(of property: Int, in row: UnsafeRowView) -> Data? {
        values.isEmpty ? nil : values[ValueKey(body: row.body, property: property)]
    }
}
