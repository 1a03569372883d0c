internal import Foundation

/// One run of batches: the client sends all of them, and takes the answers in the same order.
///
/// A statement that the connection has not prepared yet is prepared in the same round trip. Batches may be sent ahead of the last one: the server
/// works on them while the client makes the next.
struct BatchRun {
    /// What the server answers to.
    private enum Sent {
        case prepare(PreparedStatements.Key)
        case forget(String)
        case run
    }

    // The connection keeps a run between two calls.
    private unowned let connection: PostgreSQLConnection
    var deadline: ContinuousClock.Instant?
    /// A failed transaction takes nothing but its end, so the server forgets no statement meanwhile.
    private let isFailed: Bool
    private var sent: [Sent] = []
    private var isPipelined = false
    /// The statements that were sent ahead of the last batch.
    private var aheadCount = 0
    private var results: [PostgreSQLResult] = []
    private var unflushed = 0
    private var failure: PostgreSQLError?

    /// libpq keeps unsent bytes in memory. It is made to send them before they are many.
    private static let unflushedMax = 1 << 20

    init(_ connection: PostgreSQLConnection, _ deadline: ContinuousClock.Instant?) {
        self.connection = connection
        self.deadline = deadline
        isFailed = connection.transactionState == .failed
    }

    private var library: LibPQ { connection.library }
    private var handle: LibPQ.Connection? { connection.handle }

    /// - Throws: `badValue` for a batch that cannot be sent.
    static func check(_ batch: PostgreSQLBatch) throws(PostgreSQLError) {
        for (index, item) in batch.items.enumerated() { try check(item, index) }
    }

    /// Sends a batch, which was checked, and takes the answers to all that was sent.
    /// - Returns: those to this batch.
    mutating func results(_ batch: PostgreSQLBatch) throws(PostgreSQLError) -> [PostgreSQLResult] {
        if let pipeline = connection.pipeline, isPipelined || batch.items.count > 1 || batch.items.contains(where: isNew) {
            try runPipelined(batch, pipeline)
        } else {
            try runSingly(batch)
        }
        if let failure { throw failure }
        return aheadCount == 0 ? results : Array(results.dropFirst(aheadCount))
    }

    private static func check(_ item: PostgreSQLBatch.Item, _ place: Int) throws(PostgreSQLError) {
        guard item.parameters.count <= PostgreSQLParameters.countMax else {
            throw PostgreSQLError(
                .badValue, "A statement has \(item.parameters.count) parameters; the protocol takes \(PostgreSQLParameters.countMax).",
                statement: place)
        }
        if let fault = PostgreSQLValueLimit.fault(count: item.parameters.bytes.count + item.statement.text.utf8.count) { throw fault }
        guard !item.statement.hasZeroByte else {
            throw PostgreSQLError(.badValue, "A statement's text contains U+0000.", statement: place)
        }
    }

    private func key(_ item: PostgreSQLBatch.Item) -> PreparedStatements.Key? {
        guard item.statement.isPrepared, connection.prepared.max > 0 else { return nil }
        return PreparedStatements.Key(statement: item.statement, types: item.parameters.types)
    }

    private func isNew(_ item: PostgreSQLBatch.Item) -> Bool { key(item).map { !connection.prepared.contains($0) } ?? false }
}

// MARK: In one round trip

extension BatchRun {
    /// Sends a batch, which was checked, ahead of the last one. The server begins with it, and the client does not wait for the answers.
    mutating func sendAhead(_ batch: PostgreSQLBatch, _ pipeline: LibPQ.Pipeline) throws(PostgreSQLError) {
        try begin(pipeline)
        for item in batch.items { try send(item) }
        aheadCount += batch.items.count
        // The socket may take a part of it. The next call sends the rest.
        guard library.flush(handle) >= 0 else { throw connection.lost() }
    }

    private mutating func begin(_ pipeline: LibPQ.Pipeline) throws(PostgreSQLError) {
        guard !isPipelined else { return }
        guard pipeline.enter(handle) == 1 else { throw connection.lost() }
        isPipelined = true
        connection.roundTrips += 1
    }

    private mutating func runPipelined(_ batch: PostgreSQLBatch, _ pipeline: LibPQ.Pipeline) throws(PostgreSQLError) {
        defer { connection.prepared.endBatch() }
        try begin(pipeline)
        for item in batch.items { try send(item) }
        guard pipeline.sync(handle) == 1 else { throw connection.lost() }
        for part in sent { try take(part) }
        try takeSync()
        guard pipeline.exit(handle) == 1 else { throw connection.lost() }
    }

    private mutating func send(_ item: PostgreSQLBatch.Item) throws(PostgreSQLError) {
        if let key = key(item) {
            let known = connection.prepared.name(of: key)
            let name = if let known { known } else { try prepare(key) }
            try note(.run, sendPrepared(name, item.parameters))
        } else {
            try note(.run, sendUnprepared(item))
        }
        unflushed += item.parameters.bytes.count
        guard unflushed > Self.unflushedMax else { return }
        unflushed = 0
        try connection.flush(deadline)
    }

    /// Notes what was sent.
    private mutating func note(_ part: Sent, _ isSent: Bool) throws(PostgreSQLError) {
        guard isSent else { throw connection.lost() }
        sent.append(part)
    }

    /// Prepares a statement, and lets those go for which there is no room.
    private mutating func prepare(_ key: PreparedStatements.Key) throws(PostgreSQLError) -> String {
        let name = connection.prepared.insert(key)
        try note(.prepare(key), sendPrepare(name, key))
        guard !isFailed else { return name }
        for old in connection.prepared.takeLeaving() { try note(.forget(old), sendText("DEALLOCATE \(old)")) }
        return name
    }

    private mutating func take(_ part: Sent) throws(PostgreSQLError) {
        let result = try connection.anyAnswer(deadline)
        switch library.resultStatus(result.answer) {
        case LibPQStatus.command, LibPQStatus.rows, LibPQStatus.emptyQuery:
            switch part {
            case .prepare(let key): connection.prepared.confirm(key)
            case .forget(let name): connection.prepared.hasLeft(name)
            case .run: results.append(result)
            }
        // The server has skipped it.
        case LibPQStatus.aborted: break
        default:
            if failure == nil { failure = connection.error(result.answer, results.count - aheadCount) }
            if connection.isBroken, let failure { throw failure }
        }
    }

    private func takeSync() throws(PostgreSQLError) {
        try connection.wait(deadline)
        guard let answer = library.getResult(handle) else { throw connection.lost() }
        defer { library.clear(answer) }
        guard library.resultStatus(answer) == LibPQStatus.sync else { throw connection.lost() }
    }
}

// MARK: One after the other

extension BatchRun {
    private mutating func runSingly(_ batch: PostgreSQLBatch) throws(PostgreSQLError) {
        for item in batch.items {
            guard let key = key(item) else {
                try ask(sendUnprepared(item))
                continue
            }
            let known = connection.prepared.name(of: key)
            let name = if let known { known } else { try prepareSingly(key) }
            try ask(sendPrepared(name, item.parameters))
        }
    }

    /// libpq before version 14 has no pipelines.
    private mutating func prepareSingly(_ key: PreparedStatements.Key) throws(PostgreSQLError) -> String {
        let name = connection.prepared.insert(key)
        defer { connection.prepared.endBatch() }
        _ = try answer(sendPrepare(name, key))
        connection.prepared.confirm(key)
        guard !isFailed else { return name }
        for old in connection.prepared.takeLeaving() {
            _ = try answer(sendText("DEALLOCATE \(old)"))
            connection.prepared.hasLeft(old)
        }
        return name
    }

    private mutating func ask(_ isSent: Bool) throws(PostgreSQLError) { results.append(try answer(isSent)) }

    private func answer(_ isSent: Bool) throws(PostgreSQLError) -> PostgreSQLResult {
        guard isSent else { throw connection.lost() }
        connection.roundTrips += 1
        return try connection.answer(deadline, results.count)
    }
}

// MARK: Sending

extension BatchRun {
    private func sendPrepare(_ name: String, _ key: PreparedStatements.Key) -> Bool {
        let types = key.types.map(\.number)
        return library.sendPrepare(handle, name, key.statement.text, CInt(types.count), types) == 1
    }

    private func sendPrepared(_ name: String, _ parameters: PostgreSQLParameters) -> Bool {
        parameters.withPointers { values, lengths, formats in
            library.sendPrepared(handle, name, CInt(parameters.count), values, lengths, formats, 1) == 1
        }
    }

    private func sendUnprepared(_ item: PostgreSQLBatch.Item) -> Bool {
        let types = item.parameters.types.map(\.number)
        return item.parameters.withPointers { values, lengths, formats in
            library.sendParameters(handle, item.statement.text, CInt(types.count), types, values, lengths, formats, 1) == 1
        }
    }

    private func sendText(_ sql: String) -> Bool { library.sendParameters(handle, sql, 0, nil, nil, nil, nil, 1) == 1 }
}
