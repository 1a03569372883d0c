import Foundation
import RecordLog
import Synchronization

/// The rows that one context has made from an incremental store's nodes. Its objects point into them, so they live as long as the context may
/// need them.
///
/// A row that is unchanged when it is read again keeps its memory, so repeated reads allocate nothing.
final class IncrementalRows: Sendable {
    private struct Row {
        let body: UnsafeMutableRawPointer
        let byteCount: Int
        let version: UInt32
    }

    private struct State: ~Copyable, @unchecked Sendable {
        // Unchecked: a row's bytes do not change once it is in one of these dictionaries.
        var newest: [ObjectKey: Row] = [:]
        /// Rows that newer ones have replaced. Objects may still point into them.
        var older: [ObjectKey: [Row]] = [:]
        var memory = RowBlocks()
    }

    private let state = Mutex(State())

    /// Stores a copy of a row, or finds an equal one.
    func keep(_ body: UnsafeRawBufferPointer, _ key: ObjectKey, _ reference: RowReference, version: UInt32) -> UnsafeRowView {
        nonisolated(unsafe) let body = body
        let kept: UInt = state.withLock { state in
            let known = state.newest[key]
            if let known, known.version == version, known.byteCount == body.count, memcmp(known.body, body.baseAddress!, body.count) == 0 {
                return UInt(bitPattern: known.body)
            }
            let copy = state.memory.take(body.count)
            if let start = body.baseAddress { copy.copyMemory(from: start, byteCount: body.count) }
            if let known { state.older[key, default: []].append(known) }
            state.newest[key] = Row(body: copy, byteCount: body.count, version: version)
            return UInt(bitPattern: copy)
        }
        return UnsafeRowView(body: UnsafeRawPointer(bitPattern: kept)!, byteCount: body.count, reference: reference, version: version)
    }

    /// Returns the newest row that was read at a version.
    func row(_ key: ObjectKey, _ reference: RowReference, version: UInt32) -> UnsafeRowView? {
        let found: (UInt, Int)? = state.withLock { state in
            let known = state.newest[key].flatMap { $0.version == version ? $0 : nil } ?? state.older[key]?.last { $0.version == version }
            return known.map { (UInt(bitPattern: $0.body), $0.byteCount) }
        }
        guard let found, let body = UnsafeRawPointer(bitPattern: found.0) else { return nil }
        return UnsafeRowView(body: body, byteCount: found.1, reference: reference, version: version)
    }
}
