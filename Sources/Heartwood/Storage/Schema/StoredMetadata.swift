import Foundation
internal import HeartwoodFileReading
import RecordLog
import Synchronization

/// The metadata of a record log, decoded at the first access. An opening with the right model version does not need them, and decoding the first
/// property list in a process costs as much as the rest of the opening.
final class StoredMetadata: IdentifierHolder, Sendable {
    private struct State: @unchecked Sendable {
        // Unchecked: the values are property lists, which do not change.
        var bytes: [UInt8] = []
        var values: [String: Any]?
        var identifier: String?

        var data: Data { Data(bytes: bytes, count: bytes.count) }
    }

    private let state: Mutex<State>

    init(_ values: [String: Any]) {
        state = Mutex(State(values: values))
    }

    /// - Throws: where the metadata cannot be read.
    init(_ snapshot: Snapshot) throws {
        var first = State(bytes: try snapshot.unsafeSystemValue(RecordLogSystemRow.metadata).map { Array($0) } ?? [])
        if !first.bytes.starts(with: "bplist".utf8) { first.values = first.bytes.isEmpty ? [:] : try RecordLogMetadata.decode(first.data) }
        state = Mutex(first)
    }

    /// - Throws: where the bytes are no property list.
    func values() throws -> [String: Any] {
        try state.withLock { state in
            if state.values == nil { state.values = try RecordLogMetadata.decode(state.data) }
            return state
        }.values ?? [:]
    }

    /// The value of `NSStoreUUIDKey`, read without decoding the whole property list.
    var identifier: String {
        state.withLock { state in
            if let known = state.identifier { return known }
            let made = state.values.map { $0[NSStoreUUIDKey] as? String }
                ?? PropertyListLeaves.texts(state.data)?[NSStoreUUIDKey]
            state.identifier = made ?? ""
            return made ?? ""
        }
    }
}
