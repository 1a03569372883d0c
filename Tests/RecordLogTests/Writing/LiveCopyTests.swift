import Foundation
import HeartwoodTestSupport
import Testing

@testable import RecordLog

/// Copies that were read from the front during a save.
@Suite struct LiveCopyTests {
    /// The file's bytes before and after some saves.
    private func make() throws -> (SampleStore, before: [UInt8], after: [UInt8], states: [UInt64: [UInt64: SampleStore.Person]]) {
        let sample = try SampleStore {
            $0.durability = .full
            $0.segmentShift = 16
            $0.zeroAheadBytes = 32 << 10
        }
        var states: [UInt64: [UInt64: SampleStore.Person]] = [:]
        func save(_ count: Int) throws {
            for number in 0..<count {
                try sample.insert(.init(name: String(repeating: "n", count: 700), age: Int64(number), group: 1))
                states[sample.store.snapshot().sequence] = sample.people
            }
        }
        try save(4)
        let before = try SmallStore.bytes(sample)
        try save(8)
        return (sample, before, try SmallStore.bytes(sample), states)
    }

    /// Tries every offset at which the writer may have overtaken the copy: the file's beginning is older, the rest newer.
    @Test
    func `A copy made during a save is opened for reading at its newest whole commit, and copied to a sound store`() throws {
        let (sample, before, after, states) = try make()
        var refused = 0
        for offset in stride(from: 8192, to: after.count, by: 512) {
            var bytes = after
            for at in 0..<min(offset, before.count) { bytes[at] = before[at] }
            let reader = try SmallStore.open(bytes, sample, isReadOnly: true)
            #expect(reader.damage == nil, "\(offset)")
            let sequence = reader.snapshot().sequence
            #expect(sequence >= 4, "\(offset)")
            let people = try #require(states[sequence])
            try sample.check(reader.snapshot(), people)
            // A writer either continues from that state or is refused with a remedy.
            do {
                let writer = try SmallStore.open(bytes, sample)
                #expect(writer.snapshot().sequence >= sequence)
            } catch let error as StoreError {
                refused += 1
                #expect(error.code == .corrupt && error.message.contains("a copy that was made during a save"), "\(error)")
                #expect(error.remedy.contains("compact \(SampleStore.path) --to NEW") && error.remedy.contains("up to \(sequence) "), "\(error)")
                var options = sample.options
                options.fileSystem = MemoryFileSystem()
                try reader.copy(to: "copy", options: options)
                let copy = try LogStore.open(path: "copy", options: options)
                try sample.check(copy.snapshot(), people)
                try copy.write { try $0.setSystemValue(20, [1]) }
            }
        }
        #expect(refused > 0)
    }

    @Test
    func `Damage to what the header names is not taken for a copy of an open file`() throws {
        let (sample, _, after, _) = try make()
        var bytes = after
        for at in 12288..<12288 + 512 { bytes[at] = 0 }
        let error = #expect(throws: StoreError.self) { try SmallStore.open(bytes, sample) }
        #expect(error?.code == .corrupt && error?.message.contains("made during a save") == false, "\(String(describing: error))")
        #expect(try SmallStore.open(bytes, sample, isReadOnly: true).damage != nil)
    }
}
