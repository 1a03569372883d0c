import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Restores that find a file of an interrupted restore, in which a loss of power may have damaged anything.
@Suite struct LeftRestoreTests {
    private static let path = SampleStore.path + RestoreFile.suffix

    /// A store whose backup has a base with checkpoints and increments, and what a restore leaves that is interrupted before the last increment.
    private static func made() async throws -> (store: BackedUpStore, left: [UInt8]) {
        let store = try BackedUpStore { $0.segmentShift = 20 }
        for number in 0..<24 {
            try store.commit(number)
            if number % 7 == 5 { try store.sample.store.checkpoint() }
        }
        try await store.backUp()
        for number in 24..<30 {
            try store.commit(number)
            if number == 26 { try store.sample.store.checkpoint() }
            try await store.backUp()
        }
        let target = MemoryFileSystem(), destination = ProbedDestination(store.destination)
        let last = try #require(try await store.archives().compactMap { ArchiveName($0.name) }.max { $0.last < $1.last }).text
        destination.before { operation in
            if case .get(last, _) = operation { throw ProbedDestination.error(.unreachable) }
        }
        let restore = StoreRestore(from: destination, to: SampleStore.path, options: store.options(target))
        await #expect { try await restore.run() } throws: { ($0 as? BackupError)?.code == .unreachable }
        return (store, try #require(target.contents(of: path)))
    }

    private static func check(_ store: BackedUpStore, _ left: [UInt8], _ label: String) async throws {
        for sequence in [store.sequence, 20] {
            let target = MemoryFileSystem()
            target.setContents(of: path, to: left)
            let report = try await StoreRestore(from: store.destination, to: SampleStore.path, options: store.options(target))
                .run(at: .commit(sequence))
            #expect(report.sequence == sequence)
            let opened = try LogStore.open(path: SampleStore.path, options: store.options(target))
            #expect(try store.difference(opened, sequence) == nil, "\(label), commit \(sequence)")
            try opened.close()
            let verified = try StoreVerification.verify(path: SampleStore.path, fileSystem: target)
            #expect(verified.isSound, "\(label), commit \(sequence): \(verified.tail), \(verified.problems)")
            #expect(target.contents(of: path) == nil)
        }
    }

    @Test
    func `Whichever frame of what was left is damaged, the restored store is whole, at the first attempt`() async throws {
        let (store, left) = try await Self.made(), frames = DamagedIndexTests.frames(left)
        #expect(frames.count > 60 && frames.contains(where: \.isOfIndex))
        for (number, frame) in frames.enumerated() {
            guard frame.isOfIndex || number % 8 == 0 else { continue }
            let harm: DamagedIndexTests.Harm = number % 2 == 0 ? .payload : .zeroes
            var changed = left
            harm.apply(to: &changed, frame)
            try await Self.check(store, changed, "\(harm) of the frame at \(frame.offset), kind \(frame.kind)")
        }
    }

    @Test
    func `Sectors that never reached the disk, a file that was cut, and a damaged header are no hindrance`() async throws {
        let (store, left) = try await Self.made()
        for start in stride(from: 0, to: left.count, by: 4096 * 3) {
            var changed = left
            for at in start..<min(start + 4096, left.count) { changed[at] = 0 }
            try await Self.check(store, changed, "zeroes at \(start)")
        }
        for count in stride(from: 0, to: left.count, by: 7777) { try await Self.check(store, Array(left[..<count]), "cut to \(count)") }
        try await Self.check(store, [UInt8](repeating: 0, count: left.count), "only zeroes")
    }

    @Test
    func `Where what was left has pads in place of a checkpoint, that checkpoint is not taken for the store's`() async throws {
        let (store, left) = try await Self.made(), frames = DamagedIndexTests.frames(left)
        let fileID = try #require(FileIdentity.whole(inHeader: Array(left[..<Int(FileFormat.dataStart)]))).fileID
        func pad(_ frame: DamagedIndexTests.Frame, _ bytes: inout [UInt8]) {
            let range = UInt64(frame.offset)..<UInt64(frame.offset + frame.length)
            bytes.replaceSubrange(frame.offset..<frame.offset + frame.length, with: PadFrames.frame(range, fileID: fileID))
        }
        var all = left
        for frame in frames where frame.isOfIndex {
            pad(frame, &all)
            var one = left
            pad(frame, &one)
            try await Self.check(store, one, "a pad at \(frame.offset), kind \(frame.kind)")
        }
        try await Self.check(store, all, "pads for all")
    }
}
