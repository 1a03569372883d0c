import Synchronization

@testable import RecordLog

/// One opening of a simulated file.
final class SimulatedHandle: StorageFile {
    private let system: SimulatedFileSystem
    private let inode: UInt64
    private let live: MemoryFile
    private let handle: MemoryFileHandle
    /// Failed syncs of the file that this handle has been told of.
    private let failuresSeen: Atomic<Int>

    init(_ system: SimulatedFileSystem, inode: UInt64, _ file: DiskState.File) {
        self.system = system
        self.inode = inode
        live = file.live
        handle = MemoryFileHandle(file.live)
        failuresSeen = Atomic(file.failedSyncs)
    }

    var identity: FileSystemIdentity { live.identity }
    func size() throws(StoreError) -> UInt64 { live.size }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(StoreError) -> Int {
        try system.countRead(live.path)
        return try handle.read(into: buffer, at: offset)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        try system.perform(.write(inode: inode, offset: offset, bytes: Array(bytes)), live.path)
    }

    func writeDurably(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
        defer { failuresSeen.store(system.failedSyncs(of: inode), ordering: .relaxed) }
        try checkForNews()
        try system.perform(.syncedWrite(inode: inode, offset: offset, bytes: Array(bytes)), live.path)
    }

    func truncate(to size: UInt64) throws(StoreError) {
        try system.perform(.truncate(inode: inode, size: size), live.path)
    }

    func sync() throws(StoreError) {
        defer { failuresSeen.store(system.failedSyncs(of: inode), ordering: .relaxed) }
        try checkForNews()
        try system.perform(.sync(inode: inode), live.path)
    }

    /// - Throws: where a sync has failed of which this handle has not been told.
    private func checkForNews() throws(StoreError) {
        let failed = system.failedSyncs(of: inode)
        guard failuresSeen.exchange(failed, ordering: .relaxed) < failed else { return }
        throw SimulatedFileSystem.error(.io, live.path)
    }

    func lock(timeout: Duration) throws(StoreError) { try handle.lock(timeout: timeout) }
    func unlock() { handle.unlock() }
    func map(offset: UInt64, length: Int) throws(StoreError) -> UnsafeRawPointer { try handle.map(offset: offset, length: length) }
}
