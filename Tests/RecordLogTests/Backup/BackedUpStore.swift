import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// A store whose state after each commit is known, and a destination for its archives.
final class BackedUpStore {
    let files: any FileSystem
    let destination: DirectoryDestination
    let sample: SampleStore
    /// By commit.
    private(set) var states: [UInt64: [UInt64: SampleStore.Person]] = [:]

    static let folder = "backups"

    init(
        files: any FileSystem = MemoryFileSystem(), destination: any DirectoryFileSystem = MemoryFileSystem(),
        _ configure: (inout StoreOptions) -> Void = { _ in }
    ) throws {
        self.files = files
        self.destination = DirectoryDestination(path: Self.folder, fileSystem: destination)
        sample = try SampleStore(fileSystem: files) {
            $0.segmentShift = 16
            $0.zeroAheadBytes = 4096
            configure(&$0)
        }
        note()
    }

    var sequence: UInt64 { sample.store.snapshot().sequence }

    /// Remembers the state as of the newest commit.
    func note() { states[sequence] = sample.people }

    /// One commit with changes of a kind that the number chooses: insertions, large values, changes, deletions, an index.
    func commit(_ number: Int) throws {
        switch number % 6 {
        case 0: try sample.insert(.init(name: "name \(number)", age: Int64(number), group: 1))
        case 1:
            try sample.insert(.init(name: nil, age: -1, group: 0, picture: .init(fill: UInt8(number & 255), count: 9000)))
        case 2: try change { $0.age += 1 }
        case 3:
            try sample.store.write { transaction in
                for index in 0..<20 {
                    let row = try transaction.newRow(in: sample.table.id), person = SampleStore.Person(name: "bulk \(index)", age: 3, group: 2)
                    try sample.put(transaction, row, person)
                    sample.people[row] = person
                }
            }
        case 4:
            guard let row = sample.people.keys.min() else { return }
            try sample.store.write { _ = try $0.delete(sample.reference(row)) }
            sample.people[row] = nil
        default: try sample.store.write { try sample.addOrDropLateIndex($0) }
        }
        note()
    }

    private func change(_ body: (inout SampleStore.Person) -> Void) throws {
        guard let row = sample.people.keys.max(), var person = sample.people[row] else { return }
        body(&person)
        try sample.store.write { try sample.put($0, row, person) }
        sample.people[row] = person
    }

    // MARK: Backup and restore

    @discardableResult
    func backUp(bytesMax: UInt64 = 64 << 20) async throws -> StoreBackup.Report {
        var backup = StoreBackup(of: SampleStore.path, to: destination, options: sample.options)
        backup.bytesMax = bytesMax
        return try await backup.run()
    }

    /// The archives at the destination.
    func archives() async throws -> [BackupObject] {
        try await destination.list(prefix: "").filter { $0.name.hasSuffix(ArchiveName.suffix) }
    }

    func options(_ fileSystem: any FileSystem) -> StoreOptions {
        var options = sample.options
        options.fileSystem = fileSystem
        return options
    }

    /// Restores into a file system of its own.
    func restore(
        at point: StoreRestore.Point = .newest, to target: any FileSystem = MemoryFileSystem(), lineage: StoredUUID? = nil
    ) async throws -> (store: LogStore, report: StoreRestore.Report) {
        var restore = StoreRestore(from: destination, to: SampleStore.path, options: options(target))
        restore.lineage = lineage
        let report = try await restore.run(at: point)
        return (try LogStore.open(path: SampleStore.path, options: options(target)), report)
    }

    /// The difference of a store to the state after a commit; nil for none.
    func difference(_ store: LogStore, _ sequence: UInt64) throws -> String? {
        guard let wanted = states[sequence] else { return "no commit \(sequence) was made" }
        guard let found = SampleStore(reading: store) else { return wanted.isEmpty ? nil : "the table is gone" }
        return try found.mismatch(store.snapshot(), wanted)
    }

    /// Restores a commit and compares everything.
    func check(_ sequence: UInt64, _ label: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let target = MemoryFileSystem()
        let (store, report) = try await restore(at: .commit(sequence), to: target)
        let difference = try difference(store, sequence)
        #expect(difference == nil, "\(label), commit \(sequence)", sourceLocation: sourceLocation)
        #expect(report.sequence == sequence && store.snapshot().sequence == sequence + 1, "\(label)", sourceLocation: sourceLocation)
        #expect(store.storeID == sample.store.storeID, sourceLocation: sourceLocation)
        try store.close()
        let verified = try StoreVerification.verify(path: SampleStore.path, fileSystem: target)
        #expect(verified.isSound, "\(label), commit \(sequence): \(verified.tail), \(verified.problems)", sourceLocation: sourceLocation)
        #expect(target.contents(of: SampleStore.path + RestoreFile.suffix) == nil, sourceLocation: sourceLocation)
    }
}
