import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Backups of stores in whose files frames of indexes are damaged, and restores whose left file or archive has such frames. No commit needs them.
@Suite struct DamagedIndexTests {
    struct Frame {
        var offset: Int
        var length: Int
        var kind: UInt8

        var isOfIndex: Bool { [.primaryPage, .primaryDirectory, .indexBlock, .indexRoot, .checkpoint, .batch].map(\FrameKind.rawValue).contains(kind) }
    }

    /// The frames of a whole file.
    static func frames(_ bytes: [UInt8]) -> [Frame] {
        var found: [Frame] = [], offset = Int(FileFormat.dataStart)
        while offset + FrameHeader.lengthMin <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
            guard length >= FrameHeader.lengthMin else { break }
            found.append(Frame(offset: offset, length: length, kind: bytes[offset + 16]))
            offset += length
        }
        return found
    }

    /// A store with several checkpoints. Nothing uses the older ones. They lie in batches beside the commits, or by themselves.
    private static func made(batches: Bool) throws -> (store: BackedUpStore, bytes: [UInt8]) {
        let files = MemoryFileSystem()
        let store = try BackedUpStore(files: files) { options in
            options.segmentShift = 20
            if batches {
                options.checkpointAfterBytes = 6000
                options.checkpointsInBackground = true
            }
        }
        for number in 0..<40 {
            try store.commit(number)
            if !batches, number % 9 == 4 { try store.sample.store.checkpoint() }
        }
        let end = Int(try BackupSource(path: SampleStore.path, options: store.sample.options).superblock().end)
        return (store, Array(try #require(files.contents(of: SampleStore.path))[..<end]))
    }

    enum Harm: CaseIterable {
        case payload, header, kind, zeroes

        func apply(to bytes: inout [UInt8], _ frame: Frame) {
            switch self {
            case .payload: bytes[frame.offset + frame.length - 1] ^= 0x55; bytes[frame.offset + 32] ^= 0x55
            case .header: bytes[frame.offset + 1] ^= 0xFF
            case .kind: bytes[frame.offset + 16] = FrameKind.rows.rawValue
            case .zeroes: for at in frame.offset..<frame.offset + frame.length { bytes[at] = 0 }
            }
        }
    }

    /// Files with one damaged frame, or with two or three that follow each other.
    private static func damaged(_ bytes: [UInt8]) -> [(bytes: [UInt8], frames: [Frame])] {
        let frames = frames(bytes).filter(\.isOfIndex)
        var cases: [(bytes: [UInt8], frames: [Frame])] = []
        for (number, harm) in Harm.allCases.enumerated() {
            for index in stride(from: number, to: frames.count, by: 1 + frames.count / 5) {
                for count in [1, 3] {
                    let hit = frames[index..<min(index + count, frames.count)].filter { $0.offset < frames[index].offset + 100_000 }
                    var changed = bytes
                    for frame in hit { harm.apply(to: &changed, frame) }
                    cases.append((changed, hit))
                }
            }
        }
        return cases
    }

    private static func check(
        _ store: BackedUpStore, _ destination: DirectoryDestination, _ label: String, isTold: Bool
    ) async throws {
        for sequence in [1, store.sequence / 2, store.sequence] {
            let target = MemoryFileSystem()
            let report = try await StoreRestore(from: destination, to: SampleStore.path, options: store.options(target)).run(at: .commit(sequence))
            #expect(report.damagedIndexes.isEmpty != isTold || sequence != store.sequence, "\(label), commit \(sequence)")
            let opened = try LogStore.open(path: SampleStore.path, options: store.options(target))
            #expect(try store.difference(opened, sequence) == nil, "\(label), commit \(sequence)")
            try opened.close()
            let verified = try StoreVerification.verify(path: SampleStore.path, fileSystem: target)
            #expect(verified.isSound, "\(label), commit \(sequence): \(verified.problems)")
        }
    }

    @Test(arguments: [false, true])
    func `A damaged index in the store is told by the backup, which has all commits, is whole, and gives a sound store`(batches: Bool) async throws {
        let (store, bytes) = try Self.made(batches: batches), cases = Self.damaged(bytes)
        #expect(cases.count > 20 && (!batches || Self.frames(bytes).contains { $0.kind == FrameKind.batch.rawValue }))
        for (changed, frames) in cases {
            let files = MemoryFileSystem(), destination = DirectoryDestination(path: "b", fileSystem: MemoryFileSystem())
            files.setContents(of: SampleStore.path, to: changed)
            let label = "frames at \(frames.map(\.offset)) of kinds \(frames.map(\.kind))"
            let report = try await StoreBackup(of: SampleStore.path, to: destination, options: store.options(files)).run()
            #expect(report.sequence == store.sequence, "\(label)")
            for frame in frames {
                #expect(report.damagedIndexes.contains { $0.contains(UInt64(frame.offset)) }, "\(label): \(report.damagedIndexes)")
            }
            #expect(try await BackupArchives(at: destination).verify().isEmpty, "\(label)")
            try await Self.check(store, destination, label, isTold: false)
        }
    }

    @Test(arguments: [false, true])
    func `An archive that an older tool made of such a store gives back every commit in a sound store, and says what it left out`(
        batches: Bool
    ) async throws {
        let (store, bytes) = try Self.made(batches: batches)
        for (changed, frames) in Self.damaged(bytes) {
            let files = MemoryFileSystem(), destination = DirectoryDestination(path: "b", fileSystem: MemoryFileSystem())
            files.setContents(of: SampleStore.path, to: changed)
            let source = try BackupSource(path: SampleStore.path, options: store.options(files)), published = try source.superblock()
            var finder = LogRangeFinder(source, after: .start, published: published, lineage: try source.lineage())
            var range = try #require(try finder.base())
            range.damage = []
            range.table.checkpoints = try source.checkpoints(published)
            let upload = LogArchiveUpload(range, from: source)
            try await destination.put(ArchiveName(range.header).text, size: upload.length, upload)
            let label = "frames at \(frames.map { "\($0.offset) of \($0.length) kind \($0.kind)" }): \(changed[frames[0].offset..<frames[0].offset + 24])"
            do {
                try await Self.check(store, destination, label, isTold: true)
            } catch {
                Issue.record("\(label): \(error)")
            }
        }
    }

    @Test
    func `A damaged frame of a commit is an error of the backup, and is not stepped over`() async throws {
        let (store, bytes) = try Self.made(batches: false)
        let frames = Self.frames(bytes).filter { [.rows, .commit, .valueChunk].map(\FrameKind.rawValue).contains($0.kind) }
        for (number, harm) in Harm.allCases.enumerated() where harm != .kind {
            for index in stride(from: number, to: frames.count, by: 7) {
                var changed = bytes
                harm.apply(to: &changed, frames[index])
                let files = MemoryFileSystem(), destination = DirectoryDestination(path: "b", fileSystem: MemoryFileSystem())
                files.setContents(of: SampleStore.path, to: changed)
                await #expect { try await StoreBackup(of: SampleStore.path, to: destination, options: store.options(files)).run() } throws: {
                    ($0 as? StoreError)?.code == .corrupt
                }
            }
        }
    }
}
