import Foundation
internal import FileReading
import RecordLog
import Synchronization

/// What a record log says of itself, made of its bytes where somebody asks: opening a store of the version that is wanted does not, and the first
/// property list that a process reads costs as much as all the rest of an opening.
final class StoredMetadata: IdentifierHolder, Sendable {
    private struct State: @unchecked Sendable {
        // Unchecked: property lists, which nobody changes.
        var bytes: [UInt8] = []
        var values: [String: Any]?
        var identifier: String?

        var data: Data { Data(bytes: bytes, count: bytes.count) }
    }

    private let state: Mutex<State>

    init(_ values: [String: Any]) {
        state = Mutex(State(values: values))
    }

    /// - Throws: where the store says nothing that could be read.
    init(_ snapshot: Snapshot) throws {
        var first = State(bytes: try snapshot.systemValue(RecordLogSystemRow.metadata).map { Array($0) } ?? [])
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

    /// `NSStoreUUIDKey` alone, which takes less than all of it.
    var identifier: String {
        state.withLock { state in
            if let known = state.identifier { return known }
            let made = state.values.map { $0[NSStoreUUIDKey] as? String }
                ?? PropertyListTexts.read(state.data)?[NSStoreUUIDKey]
            state.identifier = made ?? ""
            return made ?? ""
        }
    }
}
