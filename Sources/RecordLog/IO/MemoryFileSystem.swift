import HeartwoodPlatform
import Synchronization

/// Files in memory, for in-memory stores and for tests. They live as long as the file system object.
public final class MemoryFileSystem: FileSystem {
    private let files = Mutex<[String: MemoryFile]>([:])
    private let nextInode = Atomic<UInt64>(1)
    private let memoryMax: UInt64

    public init() { memoryMax = .max }

    /// - Parameter memoryMax: the most bytes of address space for each file, as if the process had no more.
    init(memoryMax: UInt64) { self.memoryMax = memoryMax }

    public func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let result: Result<any StorageFile, StoreError> = files.withLock { files in
            switch (mode, files[path]) {
            case (.create, _?), (.createPrivate, _?):
                return .failure(StoreError(.exists, path: path, "the file exists", remedy: "Choose another path."))
            case (.create, nil), (.createPrivate, nil):
                let inode = nextInode.wrappingAdd(1, ordering: .relaxed).oldValue
                let file = MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: inode), memoryMax: memoryMax)
                files[path] = file
                return .success(MemoryFileHandle(file))
            case (_, let file?): return .success(MemoryFileHandle(file))
            case (_, nil):
                return .failure(StoreError(.notFound, path: path, "there is no such file", remedy: "Check the path."))
            }
        }
        return try result.get()
    }

    public func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
        files.withLock { $0[path]?.identity }
    }

    public func rename(_ old: String, to new: String) throws(StoreError) {
        let isDone = files.withLock { files in
            guard let file = files.removeValue(forKey: old) else { return false }
            files[new] = file
            return true
        }
        guard isDone else { throw StoreError(.notFound, path: old, "there is no such file", remedy: "Check the path.") }
    }

    public func remove(_ path: String) throws(StoreError) {
        files.withLock { _ = $0.removeValue(forKey: path) }
    }

    public func syncDirectory(of path: String) throws(StoreError) {}

    public func freeSpace(at path: String) -> UInt64? { nil }

    public var outlivesProcess: Bool { false }

    public func now() -> Int64 { SystemClock.now() }

    public func random() -> UInt64 { UInt64.random(in: 1...UInt64.max) }

    /// The bytes of a file, for tests that damage them.
    public func contents(of path: String) -> [UInt8]? {
        files.withLock { $0[path] }?.contents()
    }

    /// Makes a file with these bytes. Replaces an existing file.
    public func setContents(of path: String, to bytes: [UInt8]) {
        let inode = nextInode.wrappingAdd(1, ordering: .relaxed).oldValue
        let file = MemoryFile(path: path, identity: FileSystemIdentity(device: 0, inode: inode), memoryMax: memoryMax)
        // For tests, whose files are small.
        bytes.withUnsafeBytes { bytes in _ = try? file.write(bytes, at: 0) }
        files.withLock { $0[path] = file }
    }
}

extension MemoryFileSystem: DirectoryFileSystem {
    public func makeDirectory(_ path: String) throws(StoreError) -> Bool { false }

    public func entries(ofDirectory path: String) throws(StoreError) -> [DirectoryEntry]? {
        DirectoryEntry.list(of: path, among: files.withLock { $0.mapValues(\.size) })
    }
}

/// The bytes of a file, in chunks that never move: a mapping is a pointer into a chunk.
///
/// A chunk is a segment of the default size, so that a small store takes little address space. A store with larger segments is read into
/// separate memory, like a file that cannot be mapped.
///
/// Concurrent reads of bytes that are not being written are safe, as in a mapped file.
final class MemoryFile: Sendable {
    private static let chunkShift = UInt64(FileFormat.defaultSegmentShift)
    private static let chunkSize = 1 << Int(chunkShift)

    private struct State: @unchecked Sendable {
        // Unchecked: the chunks' memory is shared like that of a mapped file; see the type's comment.
        var chunks: [UnsafeMutableRawPointer] = []
        var size: UInt64 = 0
        var isLocked = false
    }

    let path: String
    let identity: FileSystemIdentity
    private let state = Mutex(State())
    private let released = WaitCondition()
    private let waiters = Atomic(0)
    private let memoryMax: UInt64

    init(path: String, identity: FileSystemIdentity, memoryMax: UInt64 = .max) {
        self.memoryMax = memoryMax
        self.path = path
        self.identity = identity
    }

    deinit {
        state.withLock { state in
            for chunk in state.chunks { LazyMemory.release(chunk, Self.chunkSize) }
        }
    }

    /// - Returns: nil if the address space has no room.
    private func chunk(_ offset: UInt64, _ state: inout State) -> UnsafeMutableRawPointer? {
        let index = Int(offset >> Self.chunkShift)
        while state.chunks.count <= index {
            guard UInt64(state.chunks.count + 1) << Self.chunkShift <= memoryMax, let made = LazyMemory.tryZeroed(Self.chunkSize)
            else { return nil }
            state.chunks.append(made)
        }
        return state.chunks[index]
    }

    /// - Parameter errno: allows `LogFile` to read the file if it cannot be mapped.
    private func outOfMemory(_ offset: UInt64, errno: Int32? = nil) -> StoreError {
        StoreError(
            .noSpace, path: path, at: offset, "the process has no memory for another \(Self.chunkSize >> 20) MiB of a store in memory",
            remedy: "Raise the limit of the process (`ulimit -v`), or keep the store in a file; earlier saves are whole.", errno: errno)
    }

    var size: UInt64 { state.withLock { $0.size } }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        nonisolated(unsafe) let bytes = bytes
        let isDone = state.withLock { state in
            var done = 0
            while done < bytes.count {
                let at = offset + UInt64(done)
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(bytes.count - done, Self.chunkSize - within)
                guard let chunk = chunk(at, &state) else { return false }
                (chunk + within).copyMemory(from: bytes.baseAddress! + done, byteCount: count)
                done += count
            }
            state.size = max(state.size, offset + UInt64(bytes.count))
            return true
        }
        guard isDone else { throw outOfMemory(offset) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
        nonisolated(unsafe) let buffer = buffer
        let count: Int? = state.withLock { state in
            guard offset < state.size else { return 0 }
            let total = Int(min(UInt64(buffer.count), state.size - offset))
            var done = 0
            while done < total {
                let at = offset + UInt64(done)
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(total - done, Self.chunkSize - within)
                guard let chunk = chunk(at, &state) else { return nil }
                (buffer.baseAddress! + done).copyMemory(from: chunk + within, byteCount: count)
                done += count
            }
            return total
        }
        guard let count else { throw outOfMemory(offset) }
        return count
    }

    func truncate(to size: UInt64) {
        state.withLock { state in
            var at = size
            while at < state.size {
                let within = Int(at & ((1 << Self.chunkShift) - 1))
                let count = min(Int(state.size - at), Self.chunkSize - within)
                if let chunk = chunk(at, &state) { LazyMemory.clear(chunk + within, count) }
                at += UInt64(count)
            }
            state.size = size
        }
    }

    func tryLock() -> Bool {
        state.withLock { state in
            guard !state.isLocked else { return false }
            state.isLocked = true
            return true
        }
    }

    func unlock() {
        state.withLock { $0.isLocked = false }
        if waiters.load(ordering: .relaxed) > 0 { released.change {} }
    }

    /// Returns once the lock is free, or after a few milliseconds.
    ///
    /// A waiter counts itself before it looks at the lock, so the holder that lets the lock go afterwards sees it, and wakes it.
    func waitForLock() {
        waiters.add(1, ordering: .relaxed)
        released.wait(atMost: 10) { state.withLock { !$0.isLocked } }
        waiters.subtract(1, ordering: .relaxed)
    }

    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer {
        let within = Int(offset & ((1 << Self.chunkShift) - 1))
        guard within + length <= Self.chunkSize else {
            throw StoreError(
                .io, path: path, at: offset, "a segment of \(length >> 20) MiB cannot be mapped in a file in memory",
                remedy: "Nothing is to be done: it is read instead.", errno: ENODEV)
        }
        let address = state.withLock { state in UInt(bitPattern: chunk(offset, &state)) }
        guard let chunk = UnsafeRawPointer(bitPattern: address) else { throw outOfMemory(offset, errno: ENOMEM) }
        return chunk + within
    }

    func contents() -> [UInt8] {
        let count = Int(size)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = (try? read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)) ?? 0
        }
    }
}

/// One descriptor of a memory file: each has its own lock, as with `flock`.
final class MemoryFileHandle: StorageFile {
    private let file: MemoryFile
    private let holdsLock = Atomic<Bool>(false)

    init(_ file: MemoryFile) {
        self.file = file
    }

    deinit {
        unlock()
    }

    var identity: FileSystemIdentity { file.identity }
    func size() throws(StoreError) -> UInt64 { file.size }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int { try file.read(into: buffer, at: offset) }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) { try file.write(bytes, at: offset) }
    func truncate(to size: UInt64) throws(StoreError) { file.truncate(to: size) }
    func sync() throws(StoreError) {}

    func lock(timeout: Duration) throws(StoreError) {
        let deadline = ContinuousClock.now + timeout
        while !file.tryLock() {
            guard ContinuousClock.now < deadline else {
                throw StoreError(
                    .locked, path: file.path, "another writer held the lock for \(timeout)",
                    remedy: "Wait for it to finish, or raise the lock timeout.")
            }
            file.waitForLock()
        }
        holdsLock.store(true, ordering: .relaxed)
    }

    func unlock() {
        if holdsLock.exchange(false, ordering: .relaxed) { file.unlock() }
    }

    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer {
        try file.map(offset: offset, length: length)
    }
}
