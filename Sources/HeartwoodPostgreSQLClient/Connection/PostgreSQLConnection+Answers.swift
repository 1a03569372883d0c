internal import Foundation

extension PostgreSQLConnection {
    /// The answer to one statement, which ends with an empty one.
    func answer(_ deadline: ContinuousClock.Instant?, _ place: Int) throws(PostgreSQLError) -> PostgreSQLResult {
        try wait(deadline)
        guard let first = library.getResult(handle) else { throw lost() }
        return try finished(first, deadline, place)
    }

    private func finished(_ first: LibPQ.Answer, _ deadline: ContinuousClock.Instant?, _ place: Int) throws(PostgreSQLError) -> PostgreSQLResult {
        let result = try result(first, deadline)
        switch library.resultStatus(result.answer) {
        case LibPQStatus.command, LibPQStatus.rows, LibPQStatus.emptyQuery: return result
        default: throw error(result.answer, place)
        }
    }

    /// The answer to one statement, be it an error.
    func anyAnswer(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) -> PostgreSQLResult {
        try wait(deadline)
        guard let first = library.getResult(handle) else { throw lost() }
        return try result(first, deadline)
    }

    private func result(_ first: LibPQ.Answer, _ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) -> PostgreSQLResult {
        let result = PostgreSQLResult(first, library, notices)
        guard !LibPQStatus.copies.contains(library.resultStatus(first)) else {
            // The server waits for rows, or sends them.
            isBroken = true
            throw PostgreSQLError(.badAnswer, "The statement is a COPY; the connection is given up.")
        }
        // After the server's end no further answer comes.
        if library.status(handle) == 0 { try drain(deadline) }
        return result
    }

    /// Takes answers up to the empty one.
    func drain(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) {
        while true {
            try wait(deadline)
            guard let next = library.getResult(handle) else { return }
            library.clear(next)
        }
    }

    /// Sends a COPY, and waits until the server is ready for it.
    /// - Parameter state: the answer of a COPY of the wanted direction.
    func beginCopy(_ sql: String, _ state: CInt, _ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) {
        roundTrips += 1
        guard !sql.utf8.contains(0) else { throw PostgreSQLError(.badValue, "A statement's text contains U+0000.") }
        guard library.sendQuery(handle, sql) == 1 else { throw lost() }
        try wait(deadline)
        guard let first = library.getResult(handle) else { throw lost() }
        guard library.resultStatus(first) != state else { return library.clear(first) }
        _ = try finished(first, deadline, 0)
        throw PostgreSQLError(.badAnswer, "The statement is no COPY in binary form, or of the other direction.")
    }

    /// Sends what is left to send, and waits until libpq has an answer.
    func wait(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) {
        while true {
            let unsent = library.flush(handle)
            if unsent < 0 { throw lost() }
            guard library.isBusy(handle) != 0 else { return }
            try wait(for: unsent > 0 ? [.read, .write] : .read, deadline)
        }
    }

    /// Sends what is left to send. The server may send meanwhile.
    func flush(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) {
        while true {
            let unsent = library.flush(handle)
            if unsent < 0 { throw lost() }
            guard unsent > 0 else { return }
            try wait(for: [.read, .write], deadline)
        }
    }

    func waitForInput(_ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) { try wait(for: .read, deadline) }

    /// Waits once, and takes what has come. At the deadline the server is asked to give the statement up; its answer ends the wait.
    private func wait(for events: SocketWait.Events, _ deadline: ContinuousClock.Instant?) throws(PostgreSQLError) {
        let socket = library.socket(handle)
        // A poll of no socket would wait for ever.
        guard socket >= 0 else { throw lost() }
        if let onStall = configuration.onStall, deadline == nil {
            while !SocketWait.wait(socket, for: events, until: .now + configuration.stallAfter) {
                if let reason = onStall(serverProcess) { canceller.cancel(.hindrance(reason)) }
            }
        } else if !SocketWait.wait(socket, for: events, until: deadline) {
            canceller.cancel(.deadline)
            guard let deadline, SocketWait.wait(socket, for: .read, until: deadline + configuration.cancelPatience) else {
                isBroken = true
                throw PostgreSQLError(.connectionLost, "The statement took longer than its limit, and the server did not give it up.")
            }
        }
        guard library.consumeInput(handle) == 1 else { throw lost() }
    }

    /// The connection is broken from now on.
    func lost() -> PostgreSQLError {
        isBroken = true
        let text = library.errorMessage(handle).map { String(cString: $0).trimmingCharacters(in: .whitespacesAndNewlines) } ?? ""
        return PostgreSQLError(.connectionLost, text.isEmpty ? "The connection to the server broke." : text)
    }

    func error(_ answer: LibPQ.Answer, _ place: Int) -> PostgreSQLError {
        func field(_ code: CInt) -> String? { library.resultErrorField(answer, code).map { String(cString: $0) } }
        let text = field(LibPQField.message) ?? library.resultErrorMessage(answer).map { String(cString: $0) } ?? ""
        var particulars = PostgreSQLError.Particulars()
        particulars.detail = field(LibPQField.detail)
        particulars.hint = field(LibPQField.hint)
        particulars.schema = field(LibPQField.schema)
        particulars.table = field(LibPQField.table)
        particulars.column = field(LibPQField.column)
        particulars.constraint = field(LibPQField.constraint)
        particulars.routine = field(LibPQField.routine)
        particulars.position = field(LibPQField.position).flatMap { Int($0) }
        let severity = field(LibPQField.severity)
        if severity == nil || severity == "FATAL" || severity == "PANIC" || library.status(handle) != 0 { isBroken = true }
        return PostgreSQLError(
            isBroken ? .connectionLost : .server, text, state: field(LibPQField.state) ?? "", particulars: particulars, statement: place)
    }
}
