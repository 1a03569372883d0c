import Foundation
import Heartwood
internal import HeartwoodPostgreSQLClient

/// One save of a store, with the attempts that it takes.
final class SaveRun {
    let loaded: PostgreSQLStore.Loaded
    private let store: PostgreSQLStore
    private let batch: SaveBatch
    /// The view of the context that saves; nil where it has none.
    let own: PostgreSQLView?
    /// Metadata that the save writes as well.
    let metadata: Data?
    private var last: PostgreSQLSave?

    init(_ store: PostgreSQLStore, _ loaded: PostgreSQLStore.Loaded, _ batch: SaveBatch, metadata: Data?) throws {
        (self.store, self.loaded, self.batch, self.metadata) = (store, loaded, batch, metadata)
        own = try batch.view(of: store) as? PostgreSQLView
    }

    /// Runs the save whole, up to what the trace has in place of the commit.
    /// - Parameter isRepeatable: whether the caller calls again behind an error that may pass.
    func attempt(_ connection: PostgreSQLConnection, _ trace: TransactionTrace, isRepeatable: Bool = false) throws {
        let view = store.view(loaded, connection, own?.copies ?? RowCopies())
        var attempt = PostgreSQLSave(batch, loaded, connection, view, own?.copies, isAgain: last != nil, isRepeatable: isRepeatable)
        defer { last = attempt }
        try attempt.run(trace) { last in
            guard let metadata else { return }
            var parameters = PostgreSQLParameters()
            try parameters.addBytes(metadata)
            last.add(PostgreSQLStore.metadataStatement(loaded.location), parameters)
        }
    }

    /// Gives the objects what the commit has made of them.
    /// - Returns: the number that the history gave the transaction; 0 for none.
    func finish() -> Int64 {
        last?.finish()
        return last?.recordedNumber ?? 0
    }
}
