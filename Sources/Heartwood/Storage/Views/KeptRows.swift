import Foundation
import RecordLog

/// Copies of rows whose own memory is released. A copy keeps its address as long as this object lives.
///
/// The context that makes the copies adds them before it shares this object. After that nothing in it changes, so contexts on several queues may
/// share it.
final class KeptRows: @unchecked Sendable {
    // Unchecked: see above.

    /// A property of a copied row.
    private struct ValueKey: Hashable {
        let body: UnsafeRawPointer
        let property: Int
    }

    private var blocks: [UnsafeMutableRawPointer] = []
    /// The free end of the last block.
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var values: [ValueKey: Data] = [:]

    private static let blockSize = 16 << 10
    private static let alignment = 8

    deinit {
        for block in blocks { block.deallocate() }
    }

    var isEmpty: Bool { blocks.isEmpty }

    /// - Complexity: O(bytes of the row).
    func copy(_ row: UnsafeRowView) -> UnsafeRowView {
        let memory = take(row.byteCount)
        memory.copyMemory(from: row.body, byteCount: row.byteCount)
        return UnsafeRowView(body: UnsafeRawPointer(memory), byteCount: row.byteCount, reference: row.reference, version: row.version)
    }

    private func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let size = (max(byteCount, 1) + Self.alignment - 1) & ~(Self.alignment - 1)
        if size > free.count {
            let block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, Self.blockSize), alignment: Self.alignment)
            if let start = block.baseAddress { blocks.append(start) }
            free = block
        }
        let memory = UnsafeMutableRawBufferPointer(rebasing: free[..<size])
        free = UnsafeMutableRawBufferPointer(rebasing: free[size...])
        guard let start = memory.baseAddress else { preconditionFailure("a block has room for a row") }
        return start
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
