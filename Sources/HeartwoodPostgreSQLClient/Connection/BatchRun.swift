internal import Foundation

/// One run of a batch: what was sent, and the answers.
struct BatchRun {
    /// What the server answers to.
    private enum Sent {
        case prepare(PreparedStatements.Key, name: String)
        case forget
        case run
    }

    private let connection: PostgreSQLConnection
    private let deadline: ContinuousClock.Instant?
    private var sent: [Sent] = []

    init(_ connection: PostgreSQLConnection, _ deadline: ContinuousClock.Instant?) {
        self.connection = connection
        self.deadline = deadline
    }

    private var library: LibPQ { connection.library }
    private var handle: LibPQ.Connection? { connection.handle }

    mutating func results(_ batch: PostgreSQLBatch) throws(PostgreSQLError) -> [PostgreSQLResult] {
        for (index, item) in batch.items.enumerated() { try Self.check(item.parameters, index) }
        var results: [PostgreSQLResult] = []
        for item in batch.items {
            let place = results.count
            guard send(item.statement, item.parameters) else { throw connection.lost() }
            connection.roundTrips += 1
            results.append(try connection.answer(deadline, place))
        }
        return results
    }

    private func send(_ statement: PostgreSQLStatement, _ parameters: PostgreSQLParameters) -> Bool {
        parameters.withPointers { values, lengths, formats in
            let types = parameters.types.map(\.number)
            return library.sendParameters(handle, statement.text, CInt(types.count), types, values, lengths, formats, 1) == 1
        }
    }

    private static func check(_ parameters: PostgreSQLParameters, _ place: Int) throws(PostgreSQLError) {
        guard parameters.count <= PostgreSQLParameters.countMax else {
            throw PostgreSQLError(
                .badValue, "A statement has \(parameters.count) parameters; the protocol takes \(PostgreSQLParameters.countMax).", statement: place)
        }
        if let fault = PostgreSQLValueLimit.fault(count: parameters.bytes.count) { throw fault }
    }
}
