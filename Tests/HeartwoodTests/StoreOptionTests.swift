import Foundation
import RecordLog
import Testing

@testable import Heartwood

@Suite struct StoreOptionTests {
    private func policy(_ options: [String: Any]) throws -> CompactionPolicy? {
        let store = RecordLogStore(
            persistentStoreCoordinator: nil, configurationName: nil, at: URL(fileURLWithPath: "/none.heartwood"), options: options)
        return try store.location().options.compaction
    }

    @Test
    func `Automatic compaction can be adjusted and turned off`() throws {
        #expect(try policy([:]) == CompactionPolicy(deadRatio: 0.5, minimumBytes: 64 << 20))
        #expect(try policy([NSRecordLogAutomaticCompactionOption: false]) == nil)
        #expect(try policy([NSRecordLogAutomaticCompactionOption: NSNumber(value: false)]) == nil)
        let adjusted = try policy([NSRecordLogCompactionDeadRatioOption: 0.25, NSRecordLogCompactionMinimumBytesOption: 1000])
        #expect(adjusted == CompactionPolicy(deadRatio: 0.25, minimumBytes: 1000))
    }

    @Test
    func `A store can be read instead of mapped`() throws {
        for mapping in [false, true] {
            let stack = try TestStack(.recordLog, options: [NSRecordLogMemoryMappingOption: mapping])
            for number in 0..<5 { stack.insert("Person", ["name": "p \(number)"]) }
            try stack.context.save()
            let context = stack.newContext()
            #expect(try stack.fetch("Person", "name == %@", ["p 3"], in: context).count == 1)
            let statistics = try #require(stack.store.log).statistics
            #expect((statistics.bytesRead > 0) == !mapping)
        }
    }

    @Test(arguments: [StoreKind.recordLog, .binary], [Double.infinity, .nan, 1e300, -1, -.infinity])
    func `Any timeout is accepted`(kind: StoreKind, seconds: Double) throws {
        let stack = try TestStack(kind, options: [NSPersistentStoreTimeoutOption: seconds])
        stack.insert("Person", ["name": "p"])
        try stack.context.save()
        let timeout = stack.persistentStore.commonOptions.lockTimeout
        #expect(seconds.isNaN ? timeout == StoreOptions().lockTimeout : seconds < 0 ? timeout == .zero : timeout >= .seconds(1e9))
    }
}
