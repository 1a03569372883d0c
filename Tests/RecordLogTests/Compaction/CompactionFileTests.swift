import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// The file beside a store that compactions and copies write, and foreign files at its path.
@Suite struct CompactionFileTests {
    private static let beside = SampleStore.path + CompactionFile.suffix

    private enum Way: CaseIterable { case compaction, copy, removal }

    private func run(_ way: Way, _ sample: SampleStore) throws {
        switch way {
        case .compaction: try sample.store.compact()
        case .copy: try sample.store.copy(to: SampleStore.path, options: sample.options, replacing: true)
        case .removal:
            try sample.store.close()
            try LogStore.remove(path: SampleStore.path, options: sample.options)
        }
    }

    private func checkLeftAlone(_ bytes: [UInt8], _ way: Way) throws {
        let disk = MemoryFileSystem()
        let sample = try SampleStore(fileSystem: disk)
        try sample.insert(.init(name: "a", age: 1, group: 1))
        disk.setContents(of: Self.beside, to: bytes)
        if way == .removal {
            try run(way, sample)
            #expect(try disk.identity(of: SampleStore.path) == nil)
        } else {
            let error = #expect(throws: StoreError.self) { try run(way, sample) }
            #expect(error?.code == .exists && error?.path == Self.beside && error?.remedy.contains("Move it") == true, "\(way)")
            try sample.check(sample.store.snapshot(), sample.people)
        }
        #expect(disk.contents(of: Self.beside) == bytes, "\(way)")
    }

    @Test
    func `A compaction writes its frames in pieces of the flush size, be they many or few`() throws {
        func writes(flushSize: Int) throws -> Int {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk) { $0.flushSize = flushSize }
            try sample.store.write { transaction in
                for number in 0..<500 {
                    let row = try transaction.newRow(in: sample.table.id)
                    try sample.put(transaction, row, .init(name: String(repeating: "-", count: 100) + "\(number)", age: Int64(number), group: 1))
                }
            }
            let before = disk.operationCount
            try sample.store.compact()
            return disk.operations[before...].filter { $0 == .write }.count
        }
        let few = try writes(flushSize: 1 << 20), many = try writes(flushSize: 16 << 10)
        #expect(few <= 8 && many > few)
    }

    @Test
    func `A text at the compaction file's path is left alone`() throws {
        for way in Way.allCases { try checkLeftAlone(Array("Dear all".utf8), way) }
    }

    /// A new store, one with rows, a compacted one, and one without any sync.
    @Test(arguments: [Durability.full, .none])
    func `A store at the compaction file's path is left alone`(durability: Durability) throws {
        let disk = MemoryFileSystem()
        let other = try SampleStore(fileSystem: disk, path: "other") { $0.durability = durability }
        for step in 0..<4 {
            switch step {
            case 1: try other.insert(.init(name: "b", age: 1, group: 1))
            case 2: try other.store.checkpoint()
            case 3: if durability == .full { try other.store.compact() }
            default: break
            }
            for way in Way.allCases { try checkLeftAlone(try #require(disk.contents(of: "other")), way) }
        }
    }

    /// After each operation of a compaction or a copy, with any part of it on the disk.
    @Test(arguments: [Way.compaction, .copy])
    private func `Files that a crash leaves are removed`(way: Way) throws {
        var hasLeftovers = 0
        for operation in 0..<40 {
            let disk = SimulatedFileSystem()
            let sample = try SampleStore(fileSystem: disk)
            for number in 0..<5 { try sample.insert(.init(name: "n\(number)", age: Int64(number), group: 1)) }
            disk.fail(at: disk.operationCount + operation)
            let isDone = (try? run(way, sample)) != nil
            for seed in 1...4 as ClosedRange<UInt64> {
                let image = disk.afterPowerLoss(seed: seed)
                if try image.identity(of: Self.beside) != nil { hasLeftovers += 1 }
                let left = try SampleStore(fileSystem: image)
                try left.store.compact()
                #expect(try image.identity(of: Self.beside) == nil)
                try left.check(left.store.snapshot(), sample.people)
            }
            if isDone { break }
        }
        #expect(hasLeftovers > 10)
    }
}
