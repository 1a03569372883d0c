import Foundation
import Glibc

/// The least that durable saves of several threads cost which share syncs: a thread works as long as a save does, part of it under a lock, where it
/// appends bytes; it waits for one `fdatasync` that serves all that wait. There are no rows, no checks and no readers.
///
/// A file, so that a sync writes no length, is written ahead, and is begun anew at its end.
final class SyncFloor: @unchecked Sendable {
    // Unchecked: the mutex guards the numbers.
    static let name = "append and shared sync alone"

    private let descriptor: Int32
    private let bytes = [UInt8](repeating: 7, count: 400)
    private static let fileBytes = 8 << 20
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Even and odd groups wait apart: the end of a sync wakes its own group, and one thread of the next.
    private let conditions = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 2)
    private static let start = 4096
    private var end = SyncFloor.start
    private var gathering = 0
    private var synced = -1
    private var isSyncing = false

    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
        let zeroes = [UInt8](repeating: 0, count: 1 << 20)
        for place in stride(from: 0, to: Self.fileBytes, by: zeroes.count) {
            guard pwrite(descriptor, zeroes, zeroes.count, off_t(place)) == zeroes.count else { throw PeerError(description: "pwrite failed") }
        }
        guard fsync(descriptor) == 0 else { throw PeerError(description: "fsync failed") }
        pthread_mutex_init(mutex, nil)
        for index in 0..<2 { pthread_cond_init(conditions + index, nil) }
    }

    deinit {
        close(descriptor)
        mutex.deallocate()
        conditions.deallocate()
    }

    /// Rounds of about 8 instructions. A save takes 58,000 instructions; its commit takes 22,000 of them, under the writer's lock.
    private static let ownRounds = 4500, lockedRounds = 2750

    @inline(never)
    private static func work(_ seed: Int, rounds: Int) -> UInt64 {
        var number = UInt64(truncatingIfNeeded: seed) | 1
        for _ in 0..<rounds {
            number ^= number << 13
            number ^= number >> 7
            number ^= number << 17
        }
        return number
    }

    /// Works, appends bytes and waits until they are on the disk.
    func save(_ seed: Int) throws {
        guard Self.work(seed, rounds: Self.ownRounds) > 0 else { throw PeerError(description: "nothing was worked") }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard Self.work(seed, rounds: Self.lockedRounds) > 0 else { throw PeerError(description: "nothing was worked") }
        let group = gathering
        guard pwrite(descriptor, bytes, bytes.count, off_t(end)) == bytes.count else { throw PeerError(description: "pwrite failed") }
        end += bytes.count
        if end > Self.fileBytes - bytes.count { end = Self.start }
        while synced < group {
            guard !isSyncing else {
                pthread_cond_wait(conditions + group % 2, mutex)
                continue
            }
            isSyncing = true
            gathering += 1
            pthread_mutex_unlock(mutex)
            let result = fdatasync(descriptor)
            pthread_mutex_lock(mutex)
            guard result == 0 else { throw PeerError(description: "fdatasync failed") }
            // As the store's superblock, by which others learn of the commits.
            guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else { throw PeerError(description: "pwrite failed") }
            (synced, isSyncing) = (group, false)
            pthread_cond_broadcast(conditions + group % 2)
            pthread_cond_signal(conditions + (group + 1) % 2)
        }
    }
}
