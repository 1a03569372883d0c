internal import Foundation

extension PostgreSQLConnection {
    /// The notifications that have come, without waiting.
    /// - Throws: `connectionLost`.
    package func notifications() throws(PostgreSQLError) -> [PostgreSQLNotification] {
        guard isOpen else { throw PostgreSQLError(.connectionLost, "The connection to the server is closed.") }
        guard library.consumeInput(handle) == 1 else { throw lost() }
        // libpq reads messages when it looks for an answer.
        guard library.isBusy(handle) == 0 || library.status(handle) == 0 else { throw lost() }
        var list: [PostgreSQLNotification] = []
        while let memory = library.notifies(handle) {
            defer { library.freeMemory(memory) }
            let found = memory.load(as: LibPQNotification.self)
            list.append(
                PostgreSQLNotification(
                    channel: found.channel.map { String(cString: $0) } ?? "", process: found.process,
                    payload: found.payload.map { String(cString: $0) } ?? ""))
        }
        return list
    }

    /// Waits for bytes of the server or of `wake`.
    /// - Returns: false after the deadline.
    func waits(wake: CInt?, until deadline: ContinuousClock.Instant?) -> Bool {
        SocketWait.wait(library.socket(handle), for: .read, wake: wake, until: deadline)
    }
}
