import Synchronization

@testable import RecordLog

/// A destination before and behind whose operations a test does something, such as a failure, and which counts.
final class ProbedDestination: BackupDestination {
    enum Operation: Sendable, Equatable {
        case list, put(String), get(String, Range<UInt64>), delete(String)
    }

    typealias Hook = @Sendable (Operation) async throws -> Void

    struct Counts: Sendable {
        var puts = 0
        var archivePuts = 0
        var bytesGot: UInt64 = 0
        var getting = 0
        /// The most gets at the same time.
        var gettingMost = 0
    }

    private struct State: Sendable {
        var counts = Counts()
        var before: Hook?
        var after: Hook?
        /// Changes what a get gives.
        var changed: (@Sendable (String, [UInt8]) -> [UInt8])?
        var listed: (@Sendable ([BackupObject]) -> [BackupObject])?
    }

    let inner: DirectoryDestination
    private let state = Mutex(State())

    init(_ inner: DirectoryDestination) { self.inner = inner }

    var description: String { inner.description }
    var counts: Counts { state.withLock { $0.counts } }

    func before(_ hook: Hook?) { state.withLock { $0.before = hook } }
    func after(_ hook: Hook?) { state.withLock { $0.after = hook } }
    func changeBytes(_ change: (@Sendable (String, [UInt8]) -> [UInt8])?) { state.withLock { $0.changed = change } }
    func changeListing(_ change: (@Sendable ([BackupObject]) -> [BackupObject])?) { state.withLock { $0.listed = change } }

    static func error(_ code: BackupError.Code) -> BackupError { BackupError(code, "probe", "simulated", remedy: "None.") }

    private func perform<Value>(_ operation: Operation, _ body: () async throws -> Value) async throws -> Value {
        let (before, after) = state.withLock { ($0.before, $0.after) }
        try await before?(operation)
        let value = try await body()
        try await after?(operation)
        return value
    }

    func list(prefix: String) async throws -> [BackupObject] {
        let found = try await perform(.list) { try await inner.list(prefix: prefix) }
        let change = state.withLock { $0.listed }
        return change?(found) ?? found
    }

    func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws {
        state.withLock { state in
            state.counts.puts += 1
            if name.hasSuffix(ArchiveName.suffix) { state.counts.archivePuts += 1 }
        }
        try await perform(.put(name)) { try await inner.put(name, size: size, upload) }
    }

    func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] {
        state.withLock { state in
            state.counts.getting += 1
            state.counts.gettingMost = max(state.counts.gettingMost, state.counts.getting)
        }
        defer { state.withLock { $0.counts.getting -= 1 } }
        let bytes = try await perform(.get(name, range)) { try await inner.get(name, range) }
        let change = state.withLock { state in
            state.counts.bytesGot += UInt64(bytes.count)
            return state.changed
        }
        return change?(name, bytes) ?? bytes
    }

    func delete(_ name: String) async throws { try await perform(.delete(name)) { try await inner.delete(name) } }
}
