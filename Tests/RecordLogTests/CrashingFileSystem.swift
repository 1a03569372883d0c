import Synchronization

@testable import RecordLog

/// A file system whose machine crashes at a chosen operation: what was not synced is then lost, kept or torn, as a seed says.
///
/// Each write, truncation, sync, creation, rename and removal is one operation. From the crash on every call fails.
final class CrashingFileSystem: FileSystem {
    private struct State: @unchecked Sendable {
        var operations = 0
        var crashAt = Int.max
        var failure: (at: Int, code: StoreError.Code)?
        var live: [String: CrashingFile] = [:]
        /// Names as they are on the disk.
        var durable: [String: CrashingFile] = [:]
        var pendingNames: [([String: CrashingFile]) -> [String: CrashingFile]] = []
        var nextInode: UInt64 = 1
    }

    private let state = Mutex(State())

    var operations: Int { state.withLock { $0.operations } }

    func crash(at operation: Int) {
        state.withLock { $0.crashAt = operation }
    }

    /// Makes one operation fail once, without a crash.
    func fail(at operation: Int, _ code: StoreError.Code) {
        state.withLock { $0.failure = (operation, code) }
    }

    fileprivate func operation(_ path: String) throws(StoreError) {
        let code: StoreError.Code? = state.withLock { state in
            state.operations += 1
            if state.operations > state.crashAt { return .io }
            if let failure = state.failure, failure.at == state.operations { return failure.code }
            return nil
        }
        if let code { throw StoreError(code, path: path, "the operation failed", remedy: "This is a test.") }
    }

    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        if mode == .create {
            try operation(path)
            return state.withLock { state in
                let file = CrashingFile(path: path, inode: state.nextInode, system: self)
                state.nextInode += 1
                state.live[path] = file
                state.pendingNames.append { names in names.merging([path: file]) { $1 } }
                return file
            }
        }
        guard let file = state.withLock({ $0.live[path] }) else {
            throw StoreError(.notFound, path: path, "there is no such file", remedy: "This is a test.")
        }
        return file
    }

    func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
        state.withLock { $0.live[path]?.identity }
    }

    func rename(_ old: String, to new: String) throws(StoreError) {
        try operation(new)
        state.withLock { state in
            let move: ([String: CrashingFile]) -> [String: CrashingFile] = { names in
                var names = names
                if let file = names.removeValue(forKey: old) { names[new] = file }
                return names
            }
            state.live = move(state.live)
            state.pendingNames.append(move)
        }
    }

    func remove(_ path: String) throws(StoreError) {
        guard state.withLock({ $0.live[path] != nil }) else { return }
        try operation(path)
        state.withLock { state in
            state.live[path] = nil
            state.pendingNames.append { $0.filter { $0.key != path } }
        }
    }

    func syncDirectory(of path: String) throws(StoreError) {
        try operation(path)
        state.withLock { state in
            state.durable = state.live
            state.pendingNames = []
        }
    }

    func freeSpace(at path: String) -> UInt64? { nil }
    func now() -> Int64 { 0 }
    func random() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    /// The disk as the machine finds it after the crash.
    func imageAfterCrash(seed: UInt64) -> MemoryFileSystem {
        var random = SeededGenerator(seed: seed)
        let (durable, pending) = state.withLock { ($0.durable, $0.pendingNames) }
        var names = durable
        // Name changes reach the disk in order, as in a journal.
        for change in pending.prefix(Int.random(in: 0...pending.count, using: &random)) { names = change(names) }
        let image = MemoryFileSystem()
        for (path, file) in names.sorted(by: { $0.key < $1.key }) { image.setContents(of: path, to: file.imageAfterCrash(&random)) }
        return image
    }
}

/// A file with what is in memory and what is on the disk.
final class CrashingFile: StorageFile {
    private struct Pending {
        let offset: Int
        let bytes: [UInt8]
    }

    private struct State {
        var durable: [UInt8] = []
        var pending: [Pending] = []
    }

    private let memory: MemoryFile
    private let handle: MemoryFileHandle
    private let state = Mutex(State())
    private let system: CrashingFileSystem
    private let path: String

    init(path: String, inode: UInt64, system: CrashingFileSystem) {
        memory = MemoryFile(path: path, identity: FileSystemIdentity(device: 1, inode: inode))
        handle = MemoryFileHandle(memory)
        self.system = system
        self.path = path
    }

    var identity: FileSystemIdentity { memory.identity }
    func size() throws(StoreError) -> UInt64 { memory.size }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int { memory.read(into: buffer, at: offset) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        let copy = Array(bytes)
        do throws(StoreError) {
            try system.operation(path)
        } catch {
            // The write that the crash interrupts may have reached the disk in part.
            state.withLock { $0.pending.append(Pending(offset: Int(offset), bytes: Array(copy.prefix(copy.count / 2)))) }
            throw error
        }
        memory.write(bytes, at: offset)
        state.withLock { $0.pending.append(Pending(offset: Int(offset), bytes: copy)) }
    }

    func truncate(to size: UInt64) throws(StoreError) {
        try system.operation(path)
        memory.truncate(to: size)
        state.withLock { state in
            // Kept simple: a truncation is durable at once. The engine syncs after it before it appends.
            if state.durable.count > Int(size) { state.durable.removeLast(state.durable.count - Int(size)) }
            state.pending = state.pending.filter { $0.offset < Int(size) }
        }
    }

    func sync() throws(StoreError) {
        try system.operation(path)
        let contents = memory.contents()
        state.withLock { state in
            state.durable = contents
            state.pending = []
        }
    }

    func lock(timeout: Duration) throws(StoreError) { try handle.lock(timeout: .seconds(1)) }
    func unlock() { handle.unlock() }
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try handle.map(offset: offset, length: length) }

    /// Unsynced writes are lost, kept or torn sector by sector.
    func imageAfterCrash(_ random: inout SeededGenerator) -> [UInt8] {
        let (durable, pending) = state.withLock { ($0.durable, $0.pending) }
        var image = durable
        for write in pending {
            let fate = Int.random(in: 0..<4, using: &random)
            guard fate > 0 else { continue }
            let end = write.offset + write.bytes.count
            if image.count < end { image.append(contentsOf: repeatElement(0, count: end - image.count)) }
            for start in stride(from: 0, to: write.bytes.count, by: 512) {
                if fate == 1, Bool.random(using: &random) { continue }
                let stop = min(start + 512, write.bytes.count)
                image.replaceSubrange((write.offset + start)..<(write.offset + stop), with: write.bytes[start..<stop])
            }
        }
        return image
    }
}
