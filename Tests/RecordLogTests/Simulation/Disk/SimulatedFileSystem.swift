import Foundation
import HeartwoodPlatform
import HeartwoodTestSupport
import Synchronization

@testable import RecordLog

/// A disk for tests that can lose power, run out of space and fail.
///
/// A power failure makes a new file system from the durable state and a part of the journals, which a seed chooses.
final class SimulatedFileSystem: FileSystem {
    private struct State: Sendable {
        var disk = DiskState()
        var calls: [DiskCall.Kind] = []
        var inFlight: DiskCall?
        var faults = DiskFaults()
        var hasCrashed = false
        var clock: Int64 = 1_700_000_000_000_000
        var random: SeededGenerator
    }

    private let state: Mutex<State>
    /// Called before each call is performed, while `afterPowerLoss` counts it as one that may have happened.
    /// Unsafe: set before the system is used, and only if one thread uses it.
    nonisolated(unsafe) var beforeEachCall: ((DiskCall.Kind) -> Void)?

    init(seed: UInt64 = 1) {
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    // MARK: Control

    /// The calls that changed the disk or failed to.
    var operations: [DiskCall.Kind] { state.withLock { $0.calls } }
    var operationCount: Int { state.withLock { $0.calls.count } }

    /// Makes the call with this number fail. Calls are counted from 0 since the beginning.
    func fail(at number: Int, _ fault: DiskFault = .powerLoss) {
        state.withLock {
            $0.faults.at = number
            $0.faults.fault = fault
        }
    }

    /// Makes the read after this number of reads fail.
    func failRead(after reads: Int, _ code: Int32) {
        state.withLock {
            $0.faults.readsBefore = reads
            $0.faults.readError = code
        }
    }

    /// Limits the size of all files together.
    func limit(to bytes: UInt64?) { state.withLock { $0.faults.capacity = bytes ?? .max } }

    /// Limits the bytes that can still be written, including overwritten ones, as on a full copy-on-write file system.
    func limitWrites(to bytes: UInt64?) { state.withLock { $0.faults.room = bytes ?? .max } }

    /// Removes all pending faults; a crashed disk stays crashed.
    func heal() { state.withLock { $0.faults = DiskFaults() } }

    /// Ends a permanent failure; other faults are still pending.
    func repairForGood() { state.withLock { $0.faults.failingForGood = nil } }

    var size: UInt64 { state.withLock { $0.disk.size } }
    var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    /// The disk as a restarted machine finds it after a power failure now.
    func afterPowerLoss(seed: UInt64) -> SimulatedFileSystem {
        let disk = state.withLock { $0.disk.afterPowerLoss(seed: seed, inFlight: $0.inFlight) }
        let result = SimulatedFileSystem(seed: seed)
        result.state.withLock { $0.disk = disk }
        return result
    }

    /// The bytes of a file as the processor sees them.
    func contents(of path: String) -> [UInt8]? {
        state.withLock { state in state.disk.names[path].flatMap { state.disk.files[$0]?.live.contents() } }
    }

    // MARK: Calls

    /// Performs a call, or fails it if a fault is due.
    func perform(_ call: DiskCall, _ path: String) throws(StoreError) {
        if let beforeEachCall {
            state.withLock { $0.inFlight = call }
            beforeEachCall(call.kind)
            state.withLock { $0.inFlight = nil }
        }
        let code = state.withLock { Self.perform(call, &$0) }
        if let code { throw StoreError.system("simulated \(call.kind)", path, code) }
    }

    /// - Returns: the error number of a failure.
    private static func perform(_ call: DiskCall, _ state: inout State) -> Int32? {
        if state.hasCrashed { return EIO }
        let number = state.calls.count
        state.calls.append(call.kind)
        if let fault = state.faults.take(call.kind, number: number) {
            switch fault {
            case .powerLoss:
                state.hasCrashed = true
                applyPartly(call, &state, isWholePossible: true)
                return EIO
            case .once(let code), .forGood(let code):
                applyPartly(call, &state, isWholePossible: code != ENOSPC)
                return code
            case .syncLosesPages:
                if let (inode, offset, bytes) = call.written { state.disk.apply(.write(inode: inode, offset: offset, bytes: bytes)) }
                state.disk.losePages()
                return EIO
            }
        }
        if state.faults.isFull(for: call, growth: state.disk.growth(call), size: state.disk.size) {
            applyPartly(call, &state, isWholePossible: false)
            return ENOSPC
        }
        state.disk.apply(call)
        return nil
    }

    /// A failed write has written nothing, its beginning, or everything; other failed calls do nothing.
    private static func applyPartly(_ call: DiskCall, _ state: inout State, isWholePossible: Bool) {
        guard let (inode, offset, bytes) = call.written else { return }
        let parts = [0, bytes.count / 2, bytes.count]
        let count = parts[Int.random(in: 0..<(isWholePossible ? 3 : 2), using: &state.random)]
        if count > 0 { state.disk.apply(.write(inode: inode, offset: offset, bytes: Array(bytes[..<count]))) }
    }

    func countRead(_ path: String) throws(StoreError) {
        let code = state.withLock { $0.hasCrashed ? EIO : $0.faults.takeRead() }
        if let code { throw StoreError.system("simulated read", path, code) }
    }

    func failedSyncs(of inode: UInt64) -> Int { state.withLock { $0.disk.files[inode]?.failedSyncs ?? 0 } }

    static func error(_ code: StoreError.Code, _ path: String) -> StoreError {
        StoreError(code, path: path, "simulated", remedy: "None.")
    }

    // MARK: FileSystem

    func open(_ path: String, _ mode: OpenMode) throws(StoreError) -> any StorageFile {
        let known = state.withLock { $0.disk.names[path] }
        if mode.creates {
            guard known == nil else { throw Self.error(.exists, path) }
            try perform(.create(path: path, inode: state.withLock { $0.disk.newInode() }), path)
        }
        guard let (inode, file) = state.withLock({ state in
            state.disk.names[path].flatMap { inode in state.disk.files[inode].map { (inode, $0) } }
        }) else { throw Self.error(.notFound, path) }
        return SimulatedHandle(self, inode: inode, file)
    }

    func identity(of path: String) throws(StoreError) -> FileSystemIdentity? {
        state.withLock { state in state.disk.names[path].map { FileSystemIdentity(device: 0, inode: $0) } }
    }

    func rename(_ old: String, to new: String) throws(StoreError) {
        guard state.withLock({ $0.disk.names[old] }) != nil else { throw Self.error(.notFound, old) }
        try perform(.rename(old, to: new), new)
    }

    func remove(_ path: String) throws(StoreError) {
        guard try identity(of: path) != nil else { return }
        try perform(.remove(path), path)
    }

    func syncDirectory(of path: String) throws(StoreError) {
        try perform(.syncDirectory, path)
    }

    func freeSpace(at path: String) -> UInt64? {
        state.withLock { $0.faults.capacity == .max ? nil : $0.faults.capacity - min($0.faults.capacity, $0.disk.size) }
    }

    func now() -> Int64 {
        state.withLock {
            $0.clock += 1000
            return $0.clock
        }
    }

    func random() -> UInt64 { state.withLock { $0.random.next() } }
}

extension SimulatedFileSystem: DirectoryFileSystem {
    /// Directories are parts of names here.
    func makeDirectory(_ path: String) throws(StoreError) -> Bool { false }

    func entries(ofDirectory path: String) throws(StoreError) -> [DirectoryEntry]? {
        try countRead(path)
        return DirectoryEntry.list(of: path, among: state.withLock { state in state.disk.names.mapValues { state.disk.files[$0]?.live.size ?? 0 } })
    }
}
