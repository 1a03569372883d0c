import Foundation
import RecordLog
import Synchronization

/// What a record log says of itself, made of its bytes where somebody asks: opening a store of the version that is wanted does not, and the first
/// property list that a process reads costs as much as all the rest of an opening.
final class StoredMetadata: Sendable {
    private enum State: @unchecked Sendable {
        // Unchecked: property lists, which nobody changes.
        case bytes([UInt8])
        case values([String: Any])
    }

    private let state: Mutex<State>

    init(_ values: [String: Any]) {
        state = Mutex(.values(values))
    }

    /// - Throws: where the store says nothing that could be read.
    init(_ snapshot: Snapshot) throws {
        let bytes = try snapshot.systemValue(RecordLogSystemRow.metadata).map { Array($0) }
        guard let bytes, bytes.starts(with: "bplist".utf8) else {
            state = Mutex(.values(try bytes.map { try RecordLogMetadata.decode(Data($0)) } ?? [:]))
            return
        }
        state = Mutex(.bytes(bytes))
    }

    /// - Throws: where the bytes are no property list.
    func values() throws -> [String: Any] {
        let known = try state.withLock { state in
            if case .bytes(let bytes) = state { state = .values(try RecordLogMetadata.decode(Data(bytes))) }
            return state
        }
        guard case .values(let values) = known else { return [:] }
        return values
    }
}

/// What a store is called, in its objects' URIs and where two stores are told apart.
struct StoreIdentifier {
    private let known: String
    private let metadata: StoredMetadata?

    init(_ text: String) {
        known = text
        metadata = nil
    }

    init(in metadata: StoredMetadata) {
        known = ""
        self.metadata = metadata
    }

    var text: String { metadata.map { (try? $0.values())?[NSStoreUUIDKey] as? String ?? "" } ?? known }

    static func == (a: StoreIdentifier, b: StoreIdentifier) -> Bool {
        if let metadata = a.metadata, metadata === b.metadata { return true }
        return a.text == b.text
    }
}
