import Foundation
import RecordLog
import Synchronization

/// The rows that one context has made from an incremental store's nodes. Its objects point into them, so they live as long as the context may
/// need them.
///
/// (1) A row that is unchanged when it is read again keeps its memory, so repeated reads allocate nothing.
/// (2) A row's bytes have their count and version before them, and do not change once they are stored.
/// (3) The newest rows of `runLength` neighbouring keys share an entry of the dictionary, since most reads are of neighbouring keys.
package final class IncrementalRows: Sendable {
    private struct Row {
        private struct Head {
            let byteCount: Int
            let version: UInt32
        }

        let body: UnsafeMutableRawPointer

        private var head: Head { (body - MemoryLayout<Head>.stride).load(as: Head.self) }
        var byteCount: Int { head.byteCount }
        var version: UInt32 { head.version }

        init(_ bytes: UnsafeRawBufferPointer, version: UInt32, _ memory: inout RowBlocks) {
            let start = memory.take(MemoryLayout<Head>.stride + bytes.count)
            start.storeBytes(of: Head(byteCount: bytes.count, version: version), as: Head.self)
            body = start + MemoryLayout<Head>.stride
            UnsafeMutableRawBufferPointer(start: body, count: bytes.count).copyMemory(from: bytes)
        }

        func isEqual(to bytes: UnsafeRawBufferPointer, version: UInt32) -> Bool {
            self.version == version && byteCount == bytes.count && bytes.baseAddress.map { memcmp(body, $0, bytes.count) == 0 } ?? true
        }
    }

    private typealias Run = UnsafeMutablePointer<Row?>
    private static let runLength: UInt64 = 32

    private struct State: ~Copyable, @unchecked Sendable {
        // Unchecked: see (2).
        /// By the key's quotient by `runLength`.
        var newest: [UInt64: Run] = [:]
        /// The run that was found last.
        var last: (number: UInt64, run: Run)?
        /// Rows that newer ones have replaced. Objects may still point into them.
        var older: [ObjectKey: [Row]] = [:]
        var memory = RowBlocks()

        /// The place of a key's newest row; nil if no row of its run has been read.
        mutating func place(_ key: ObjectKey) -> Run? {
            let number = key.rawValue / runLength
            if last?.number != number {
                guard let run = newest[number] else { return nil }
                last = (number, run)
            }
            return last.map { $0.run + Int(key.rawValue % runLength) }
        }

        /// The place of a key's newest row, in a new run if there is none yet.
        mutating func madePlace(_ key: ObjectKey) -> Run {
            if let place = place(key) { return place }
            let number = key.rawValue / runLength, count = Int(runLength)
            let run = memory.take(MemoryLayout<Row?>.stride * count).bindMemory(to: Row?.self, capacity: count)
            run.initialize(repeating: nil, count: count)
            newest[number] = run
            last = (number, run)
            return run + Int(key.rawValue % runLength)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Stores a copy of a row, or finds an equal one.
    package func keep(_ body: UnsafeRawBufferPointer, _ key: ObjectKey, _ reference: RowReference, version: UInt32) -> UnsafeRowView {
        nonisolated(unsafe) let body = body
        let kept: UInt = state.withLock { state in
            let place = state.madePlace(key)
            if let known = place.pointee {
                if known.isEqual(to: body, version: version) { return UInt(bitPattern: known.body) }
                state.older[key, default: []].append(known)
            }
            let copy = Row(body, version: version, &state.memory)
            place.pointee = copy
            return UInt(bitPattern: copy.body)
        }
        return UnsafeRowView(body: UnsafeRawPointer(bitPattern: kept)!, byteCount: body.count, reference: reference, version: version)
    }

    /// Returns the newest row that was read at a version.
    package func row(_ key: ObjectKey, _ reference: RowReference, version: UInt32) -> UnsafeRowView? {
        let found: (UInt, Int)? = state.withLock { state in
            let newest = state.place(key)?.pointee
            let known = newest.flatMap { $0.version == version ? $0 : nil } ?? state.older[key]?.last { $0.version == version }
            return known.map { (UInt(bitPattern: $0.body), $0.byteCount) }
        }
        guard let found, let body = UnsafeRawPointer(bitPattern: found.0) else { return nil }
        return UnsafeRowView(body: body, byteCount: found.1, reference: reference, version: version)
    }
}
