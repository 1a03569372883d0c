import Synchronization

@testable import RecordLog

/// A disk that can lose power, run out of space and fail, for tests.
///
/// Each file has what the processor sees (`live`) and what the disk has (`durable`); between them is a journal of writes
/// that no sync has reached. Names have the same two states, joined by `syncDirectory`. Losing power makes a new file
/// system of the durable state and whichever part of the journals a seed chooses.
final class SimulatedFileSystem: FileSystem, @unchecked Sendable {
    // Unchecked: everything mutable is behind `lock`.
    enum Change {
        case write(offset: UInt64, bytes: [UInt8])
        case truncate(UInt64)
    }

    /// What an operation that changes the disk is, for choosing one to fail.
    enum Operation: Equatable {
        case write, truncate, sync, rename, remove, syncDirectory, create
    }

    final class File {
        let live: MemoryFile
        var durable: [UInt8] = []
        var journal: [Change] = []

        init(_ live: MemoryFile) { self.live = live }
    }

    struct State {
        var names: [String: File] = [:]
        var durableNames: [String: File] = [:]
        var nextInode: UInt64 = 1
        var operations: [Operation] = []
        var hasCrashed = false
    }

    /// How the failing operation fails.
    enum Fault {
        /// The power goes: it and all later ones fail, and a write may have happened in part.
        case powerLoss
        /// It alone fails.
        case once(Int32)
        /// It fails, and what a failed sync had to write is called clean by the system.
        case syncLosesPages
    }

    private let lock = Mutex(())
    private var state = State()
    private var fault: (at: Int, Fault)?
    /// Bytes that all files together may have.
    private var capacity = UInt64.max
    private var clock: Int64 = 1_700_000_000_000_000
    private var seed: UInt64

    init(seed: UInt64 = 1) { self.seed = seed }

    // MARK: Control

    /// How many operations have changed the disk.
    var operations: [Operation] { lock.withLock { _ in state.operations } }

    /// Makes the operation with this number (from 0, all since the beginning counted) fail.
    func fail(at number: Int, _ fault: Fault = .powerLoss) { lock.withLock { _ in self.fault = (number, fault) } }

    func limit(to bytes: UInt64?) { lock.withLock { _ in capacity = bytes ?? .max } }

    var size: UInt64 { lock.withLock { _ in state.names.values.reduce(0) { $0 + $1.live.size } } }

    /// What is left for a machine that starts again after losing power now.
    func afterPowerLoss(seed: UInt64) -> SimulatedFileSystem {
        lock.withLock { _ in
            var random = SeededGenerator(seed: seed &+ 77)
            let result = SimulatedFileSystem(seed: seed)
            // The directory's changes are durable all or not at all.
            let names = Bool.random(using: &random) ? state.names : state.durableNames
            for (name, file) in names {
                let inode = result.state.nextInode
                result.state.nextInode += 1
                let new = File(MemoryFile(path: name, identity: FileSystemIdentity(device: 0, inode: inode)))
                new.durable = Self.survivor(of: file, seed, &random)
                new.durable.withUnsafeBytes { new.live.write($0, at: 0) }
                result.state.names[name] = new
            }
            result.state.durableNames = result.state.names
            return result
        }
    }

    /// A file's durable bytes and a part of its journal: nothing, everything, a beginning, or any of it, in pieces.
    private static func survivor(of file: File, _ seed: UInt64, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = file.durable
        let mode = seed % 6
        if mode == 0 { return bytes }
        let keep = mode == 2 ? Int.random(in: 0...file.journal.count, using: &random) : file.journal.count
        for (index, change) in file.journal.enumerated() where index < keep {
            switch mode {
            case 1, 2: apply(change, to: &bytes)
            case 3:
                if Bool.random(using: &random) { apply(change, to: &bytes) }
            default:
                let piece = [1, 512, 4096][Int.random(in: 0..<3, using: &random)]
                applyTorn(change, piece: piece, isGarbage: mode == 5, to: &bytes, &random)
            }
        }
        return bytes
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let size):
            if bytes.count > Int(size) { bytes.removeLast(bytes.count - Int(size)) }
            if bytes.count < Int(size) { bytes += [UInt8](repeating: 0, count: Int(size) - bytes.count) }
        case .write(let offset, let new):
            let end = Int(offset) + new.count
            // By libc: a test build's own loops over bytes are slow.
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.withUnsafeMutableBytes { bytes in
                new.withUnsafeBytes { new in UnsafeMutableRawBufferPointer(rebasing: bytes[Int(offset)..<end]).copyMemory(from: new) }
            }
        }
    }

    /// Some pieces of a write, cut where the disk's sectors are (or anywhere, for pieces of one byte); the first piece that
    /// is missing may be garbage.
    private static func applyTorn(_ change: Change, piece: Int, isGarbage: Bool, to bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard case .write(let offset, let new) = change, new.count < 1 << 16 else {
            if Bool.random(using: &random) { apply(change, to: &bytes) }
            return
        }
        let isPrefix = piece == 1
        let cut = Int.random(in: 0...new.count, using: &random)
        var at = 0
        while at < new.count {
            let end = isPrefix ? new.count : min(new.count, at + piece - (Int(offset) + at) % piece)
            if isPrefix {
                apply(.write(offset: offset, bytes: Array(new[..<cut])), to: &bytes)
            } else if Bool.random(using: &random) {
                apply(.write(offset: offset + UInt64(at), bytes: Array(new[at..<end])), to: &bytes)
            } else if isGarbage, offset >= FileFormat.dataStart {
                apply(.write(offset: offset + UInt64(at), bytes: (at..<end).map { _ in UInt8.random(in: 0...255, using: &random) }), to: &bytes)
            }
            at = end
        }
    }

    // MARK: Operations

    /// Counts an operation, and fails it where that was asked for.
    fileprivate func perform(
        _ operation: Operation, _ path: String, adds bytes: UInt64 = 0, partly: () -> Void = {}, _ body: () -> Void
    ) throws(StoreError) {
        let error: StoreError? = lock.withLock { _ in
            if state.hasCrashed { return Self.error(5, path) }
            let number = state.operations.count
            state.operations.append(operation)
            if let (at, fault) = fault, at == number {
                switch fault {
                case .powerLoss:
                    state.hasCrashed = true
                    partly()
                    return Self.error(5, path)
                case .once(let code):
                    partly()
                    return Self.error(code, path)
                case .syncLosesPages:
                    state.names.values.forEach { $0.journal = [] }
                    return Self.error(5, path)
                }
            }
            if bytes > 0, state.names.values.reduce(bytes, { $0 + $1.live.size }) > capacity {
                partly()
                return Self.error(28, path)
            }
            body()
            return nil
        }
        if let error { throw error }
    }

    private static func error(_ code: Int32, _ path: String) -> StoreError {
        StoreError(code == 28 ? .noSpace : .io, path: path, "simulated error \(code)", remedy: "None.", errno: code)
    }

    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let known: File? = lock.withLock { _ in state.names[path] }
        if mode == .create {
            guard known == nil else { throw StoreError(.exists, path: path, "the file exists", remedy: "None.") }
            try perform(.create, path) {
                let file = File(MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: state.nextInode)))
                state.nextInode += 1
                state.names[path] = file
            }
            let made: File? = lock.withLock { _ in state.names[path] }
            return SimulatedHandle(self, made!)
        }
        guard let known else { throw StoreError(.notFound, path: path, "there is no such file", remedy: "None.") }
        return SimulatedHandle(self, known)
    }

    func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
        lock.withLock { _ in state.names[path]?.live.identity }
    }

    func rename(_ old: String, to new: String) throws(StoreError) {
        try perform(.rename, new) {
            state.names[new] = state.names[old]
            state.names[old] = nil
        }
    }

    func remove(_ path: String) throws(StoreError) {
        guard try identity(of: path) != nil else { return }
        try perform(.remove, path) { state.names[path] = nil }
    }

    func syncDirectory(of path: String) throws(StoreError) {
        try perform(.syncDirectory, path) { state.durableNames = state.names }
    }

    func freeSpace(at path: String) -> UInt64? {
        lock.withLock { _ in
            guard capacity != .max else { return nil }
            let used = state.names.values.reduce(0) { $0 + $1.live.size }
            return capacity > used ? capacity - used : 0
        }
    }

    func now() -> Int64 {
        lock.withLock { _ in
            clock += 1000
            return clock
        }
    }

    func random() -> UInt64 {
        lock.withLock { _ in
            var random = SeededGenerator(seed: seed)
            seed = random.next()
            return seed
        }
    }

    /// The bytes of a file as the processor sees them.
    func contents(of path: String) -> [UInt8]? { lock.withLock { _ in state.names[path]?.live.contents() } }
    var paths: [String] { lock.withLock { _ in state.names.keys.sorted() } }

    /// One opening of a file.
    final class SimulatedHandle: StorageFile, @unchecked Sendable {
        private let system: SimulatedFileSystem
        private let file: File
        private let handle: MemoryFileHandle

        init(_ system: SimulatedFileSystem, _ file: File) {
            self.system = system
            self.file = file
            handle = MemoryFileHandle(file.live)
        }

        var identity: FileSystemIdentity { file.live.identity }
        func size() throws(StoreError) -> UInt64 { file.live.size }
        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
            try handle.read(into: buffer, at: offset)
        }

        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
            let end = offset + UInt64(bytes.count)
            let more = end > file.live.size ? end - file.live.size : 0
            try system.perform(
                .write, file.live.path, adds: more,
                partly: {
                    let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
                    file.live.write(half, at: offset)
                    file.journal.append(.write(offset: offset, bytes: Array(half)))
                }
            ) {
                file.live.write(bytes, at: offset)
                file.journal.append(.write(offset: offset, bytes: Array(bytes)))
            }
        }

        func truncate(to size: UInt64) throws(StoreError) {
            try system.perform(.truncate, file.live.path) {
                file.live.truncate(to: size)
                file.journal.append(.truncate(size))
            }
        }

        func sync() throws(StoreError) {
            try system.perform(.sync, file.live.path) {
                for change in file.journal { SimulatedFileSystem.apply(change, to: &file.durable) }
                file.journal = []
            }
        }

        func lock(timeout: Duration) throws(StoreError) { try handle.lock(timeout: timeout) }
        func unlock() { handle.unlock() }
        func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try handle.map(offset: offset, length: length) }
    }
}
