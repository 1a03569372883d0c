import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// The short form of the fuzzer in Tests/Fuzzing: seeded damage behind valid checksums.
@Suite struct HostileFileTests {
    @Test
    func `Seeds are sound and the repair changes nothing`() throws {
        for (name, bytes) in try HostileSeeds.all() {
            var repaired = bytes
            ChecksumRepair.all.apply(to: &repaired)
            // The only differences are the checkpoints' pointers in superblocks that are older than the frame they name.
            #expect(zip(bytes, repaired).filter { $0 != $1 }.isEmpty, "\(name)")
            var exercise = StoreExercise(path: HostileSeeds.path, options: HostileSeeds.options(files(bytes)))
            #expect(exercise.run(writes: true) == nil, "\(name)")
            // One store waits for another that does not exist.
            let isExpected = exercise.errors.isEmpty != (name == "prepared") && exercise.errors.allSatisfy { $0.code == .undecided }
            #expect(isExpected, "\(name): \(exercise.errors)")
        }
    }

    @Test(arguments: 0..<2 as Range<UInt64>)
    func `Damage under valid checksums is refused or read`(lane: UInt64) throws {
        let seeds = try HostileSeeds.all()
        var rows = 0, errors = 0
        for seed in stride(from: lane, to: 300, by: 2) {
            var random = SeededGenerator(seed: seed)
            let (name, original) = seeds[Int(seed / 2) % seeds.count]
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &random) { Self.damage(&bytes, &random) }
            ChecksumRepair.all.apply(to: &bytes)
            var options = HostileSeeds.options(files(bytes))
            options.usesMemoryMapping = seed % 3 != 2
            var exercise = StoreExercise(path: HostileSeeds.path, options: options)
            let unexplained = exercise.run(writes: seed % 4 < 2)
            #expect(unexplained == nil, "seed \(seed), \(name): \(String(describing: unexplained))")
            #expect(exercise.compactionProblem == nil, "seed \(seed), \(name): \(String(describing: exercise.compactionProblem))")
            rows += exercise.rows
            errors += exercise.errors.count
        }
        // Some damage causes an error, and some is read over.
        #expect(rows > 100 && errors > 20)
    }

    @Test(arguments: 0..<2 as Range<Int>)
    func `A hostile store that compact accepts is one that verify finds sound`(lane: Int) throws {
        // HEARTWOOD_HOSTILE_BYTES=1 damages every byte in three ways, 7 every seventh.
        let every = ProcessInfo.processInfo.environment["HEARTWOOD_HOSTILE_BYTES"].flatMap(Int.init)
        var accepted = 0, refused = 0
        for (number, (name, original)) in try HostileSeeds.all().enumerated() {
            let end = min((original.lastIndex { $0 != 0 } ?? 0) + 1, original.count)
            let start = Int(FileFormat.dataStart)
            guard end > start else { continue }
            let step = max(1, every ?? (end - start) / 48)
            for at in stride(from: start + (number * 7 + lane * 13) % step, to: end, by: step) {
                for mask in every == nil ? [[1, 0x80, 0xFF][at % 3]] : [1, 0x80, 0xFF] as [UInt8] {
                    var bytes = original
                    bytes[at] ^= mask
                    ChecksumRepair.all.apply(to: &bytes)
                    var options = HostileSeeds.options(files(bytes))
                    options.usesMemoryMapping = at % 2 == 0
                    var exercise = StoreExercise(path: HostileSeeds.path, options: options)
                    exercise.compact(keeping: lane == 0 ? .none : .commits(2))
                    #expect(
                        exercise.compactionProblem == nil,
                        "\(name), byte \(at) ^ \(mask), lane \(lane): \(String(describing: exercise.compactionProblem))")
                    if exercise.compactions > 0 { accepted += 1 } else { refused += 1 }
                }
            }
        }
        #expect(accepted > 20 && refused > 5)
    }

    /// Sums over a manifest's numbers once overflowed at the next commit.
    @Test
    func `A manifest that claims more than a file holds is refused`() {
        func isRead(_ live: UInt64, _ entries: UInt64, _ bytes: UInt64) -> Bool {
            let run = Manifest.Run(root: .none, entryCount: entries, byteCount: bytes)
            let table = Manifest.Table(id: TableID(rawValue: 1), nextRow: 2, rowCount: 1, liveBytes: live, directory: .none)
            let manifest = Manifest(
                sequence: 1, commitChecksum: 1, logEnd: FileFormat.dataStart, previousCheckpoint: .none, tables: [table],
                indexes: [Manifest.Index(id: IndexID(rawValue: 1), runs: [run, run])])
            return manifest.encoded().withUnsafeBytes { Manifest($0) } != nil
        }
        #expect(isRead(1, 1, 1))
        #expect(!isRead(.max, 1, 1) && !isRead(1, .max, 1) && !isRead(1, 1, .max) && !isRead(1 << 56, 0, 0))
    }

    /// A root of a few kilobytes could refer to one full block a hundred times.
    @Test
    func `A root that names a block twice is refused`() {
        func isRead(_ offsets: [UInt64]) -> Bool {
            var blocks = IndexRootBuilder()
            for number in offsets.indices { blocks.append(FrameTicket(number: number), separator: [UInt8(number)], entryCount: 1) }
            let bytes = blocks.encode { FramePointer(offset: offsets[$0.number], checksum: 1) }
            let root = Manifest.Run(root: FramePointer(offset: 20_000, checksum: 1), entryCount: 1, byteCount: 1)
            return (try? SortedRun(manifest: root, source: FixedPayload(bytes)).blocks()) != nil
        }
        #expect(isRead([8192, 8256]))
        #expect(!isRead([8192, 8192]) && !isRead([8256, 8192]) && !isRead([8192, 20_000]))
    }

    private func files(_ bytes: [UInt8]) -> HostileSeeds.Files {
        let files = HostileSeeds.Files()
        files.memory.setContents(of: HostileSeeds.path, to: bytes)
        return files
    }

    /// Changes a few bytes, mostly non-zero ones.
    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        var at = Int.random(in: Int(FileFormat.dataStart)..<max(bytes.count, Int(FileFormat.dataStart) + 1), using: &random)
        if Int.random(in: 0..<8, using: &random) == 0 {
            at = Int.random(in: 0..<600, using: &random) + 4096 * Int.random(in: 0...1, using: &random)
        }
        guard at < bytes.count else { return }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes[at] = extremes.randomElement(using: &random) ?? 0
        case 2:
            let value = extremes.randomElement(using: &random) ?? 0
            for index in at..<min(at + 4, bytes.count) { bytes[index] = value }
        case 3:
            let value = UInt64.random(in: 0..<UInt64(bytes.count), using: &random) & ~63
            for index in 0..<min(8, bytes.count - at) { bytes[at + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
        case 4:
            // Bytes from elsewhere in the file.
            let count = min(Int.random(in: 1...128, using: &random), bytes.count - at)
            let from = Int.random(in: 0...(bytes.count - count), using: &random)
            bytes.replaceSubrange(at..<at + count, with: Array(bytes[from..<from + count]))
        default: bytes[at] = bytes[at] &+ (Bool.random(using: &random) ? 1 : 255)
        }
    }
}
