import Foundation
import HeartwoodFileReading
import RecordLog
import Testing

@testable import Heartwood

@Suite struct StoredMetadataTests {
    private static func snapshot(_ bytes: [UInt8]?) throws -> Snapshot {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        let log = try LogStore.open(path: url.path)
        defer { try? FileManager.default.removeItem(at: url) }
        try log.write { transaction in
            if let bytes { try transaction.setSystemValue(RecordLogSystemRow.metadata, bytes) }
        }
        return log.snapshot()
    }

    @Test
    func `The identifier is read without the rest`() throws {
        let bytes = try RecordLogMetadata.encode([NSStoreUUIDKey: "A-1", "list": ["a", 1, Date()], "hashes": ["A": Data(count: 3)]])
        let metadata = try StoredMetadata(Self.snapshot(bytes))
        #expect(metadata.identifier == "A-1" && metadata.identifier == "A-1")
        #expect(try metadata.values()[NSStoreUUIDKey] as? String == "A-1")
        #expect(try metadata.values().count == 3)
        #expect(try StoredMetadata(Self.snapshot(RecordLogMetadata.encode(["a": "b"]))).identifier == "")
        #expect(try StoredMetadata(Self.snapshot(nil)).values().isEmpty)
        #expect(StoredMetadata([NSStoreUUIDKey: "B"]).identifier == "B")
    }

    @Test
    func `Metadata that is not a property list is an error`() throws {
        #expect(throws: (any Error).self) { try StoredMetadata(Self.snapshot([1, 2, 3])) }
        let damaged = try StoredMetadata(Self.snapshot(Array("bplist00 and no more".utf8)))
        #expect(throws: (any Error).self) { try damaged.values() }
        #expect(damaged.identifier == "")
    }

    @Test
    func `Metadata that hold a set are refused, since Foundation's reader ends the process at one of dictionaries`() throws {
        var bytes = try RecordLogMetadata.encode(["list": [["a": 1], ["b": 2]]])
        let array = try #require(bytes.firstIndex(of: 0xA2))
        bytes[array] = 0xC2
        #expect(throws: NSError.self) { try RecordLogMetadata.decode(Data(bytes)) }
        #expect(PropertyListLeaves.texts(Data(bytes)) == nil)
    }

    @Test
    func `A store whose metadata is not a property list keeps it`() throws {
        let first = try TestStack(.recordLog)
        try first.context.save()
        try first.coordinator.remove(first.persistentStore)
        let bytes = Array("bplist00 and no more".utf8)
        let log = try LogStore.open(path: first.url.path)
        try log.write { try $0.setSystemValue(RecordLogSystemRow.metadata, bytes) }
        try log.close()
        let stack = try TestStack(.recordLog, at: first.url)
        #expect(stack.persistentStore.metadata.isEmpty)
        stack.coordinator.setMetadata(["note": "mine"], for: stack.persistentStore)
        try stack.context.save()
        #expect(try stack.store.log?.snapshot().unsafeSystemValue(RecordLogSystemRow.metadata).map { Array($0) } == bytes)
    }

    @Test
    func `Identifiers are equal when their texts are`() throws {
        let stored = try StoredMetadata(Self.snapshot(RecordLogMetadata.encode([NSStoreUUIDKey: "A"])))
        let name = StoreIdentifier(in: stored)
        #expect(name == name && name == StoreIdentifier("A") && StoreIdentifier("A") == name)
        #expect(!(name == StoreIdentifier("B")))
    }
}
