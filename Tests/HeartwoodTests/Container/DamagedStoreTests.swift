import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Stores of twelve saves, the fifth of which has one damaged bit.
@Suite struct DamagedStoreTests {
    private static let saves = 12

    /// A store after a crash of its process, or a closed one, whose newest checkpoint saves an opening from reading the log.
    private func make(isClosed: Bool, at url: URL) throws -> Data {
        let stack = try TestStack(.recordLog, at: url, options: [NSRecordLogDurabilityOption: "full"])
        for number in 1...Self.saves {
            stack.insert("Group", ["title": "\(number)"])
            try stack.context.save()
        }
        // The schema's row of the first save is a commit as well.
        let log = try #require(stack.store.log)
        let commit = try #require(try log.commit(log.snapshot().sequence - UInt64(Self.saves - 5)))
        if isClosed {
            try log.checkpoint()
            try stack.coordinator.remove(stack.persistentStore)
        }
        var bytes = try Data(contentsOf: url)
        bytes[Int(commit.offset) + 40] ^= 1
        return bytes
    }

    private func url() -> URL { FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood") }

    private func refusal(_ url: URL, _ options: [String: Any]) -> NSError? {
        do { _ = try TestStack(.recordLog, at: url, options: options) } catch { return error as NSError }
        return nil
    }

    @Test
    func `A store whose committed bytes are damaged is not added, read-only or not, unless an option asks for what is whole`() throws {
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        let bytes = try make(isClosed: false, at: url)
        for options in [[:], [NSReadOnlyPersistentStoreOption: true], [NSRecordLogAcceptsDamageOption: true]] {
            try bytes.write(to: url)
            let error = try #require(refusal(url, options))
            #expect(error.domain == NSCocoaErrorDomain && error.code == CocoaError.Code.fileReadCorruptFile.rawValue)
            #expect(error.userInfo[NSFilePathErrorKey] as? String == url.path)
            #expect(error.userInfo[NSRecordLogOffsetErrorKey] as? UInt64 ?? 0 > 8192)
            #expect((error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)?.contains("heartwood salvage") == true)
            #expect(error.localizedDescription.contains("commit 6 is damaged, and commits 7 to 13 are behind the damage"), "\(error)")
        }
        try bytes.write(to: url)
        #expect(throws: NSError.self) { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSRecordLogStoreType, at: url) }
        let stack = try TestStack(
            .recordLog, at: url, options: [NSReadOnlyPersistentStoreOption: true, NSRecordLogAcceptsDamageOption: true])
        #expect(stack.persistentStore.damage?.code == CocoaError.Code.fileReadCorruptFile.rawValue)
        #expect(try stack.fetch("Group").count == 4)
    }

    @Test
    func `Damage that is met when rows are read is an error of the fetch`() throws {
        for maps in [true, false] {
            let url = url()
            defer { try? FileManager.default.removeItem(at: url) }
            try make(isClosed: true, at: url).write(to: url)
            let stack = try TestStack(
                .recordLog, at: url, options: [NSReadOnlyPersistentStoreOption: true, NSRecordLogMemoryMappingOption: maps])
            #expect(stack.persistentStore.damage == nil)
            let error = #expect(throws: NSError.self) { try stack.fetch("Group") }
            #expect(
                error?.domain == NSCocoaErrorDomain && error?.userInfo[NSFilePathErrorKey] as? String == url.path, "\(String(describing: error))")
            let id = try #require(stack.coordinator.managedObjectID(forURIRepresentation: URL(
                string: "x-coredata://\(stack.persistentStore.identifier ?? "")/Group/p5")!))
            #expect(throws: NSError.self) { try stack.context.existingObject(with: id) }
            // A getter cannot throw: the context reports the failure afterwards.
            let other = stack.newContext()
            #expect(other.object(with: id).value(forKey: "title") == nil && other.readingFailure != nil)
            let whole = try #require(stack.coordinator.managedObjectID(forURIRepresentation: URL(
                string: "x-coredata://\(stack.persistentStore.identifier ?? "")/Group/p4")!))
            let third = stack.newContext()
            #expect(third.object(with: whole).value(forKey: "title") as? String == "4" && third.readingFailure == nil)
        }
    }

    @Test
    func `A fetch throws where what another process has committed is damaged, until it is whole`() throws {
        let url = url()
        let writer = try TestStack(.recordLog, at: url, options: [NSRecordLogDurabilityOption: "full"])
        writer.insert("Group", ["title": "1"])
        try writer.context.save()
        let reader = try TestStack(.recordLog, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.fetch("Group").count == 1)
        writer.insert("Group", ["title": "2"])
        try writer.context.save()
        let log = try #require(writer.store.log)
        let commit = try #require(try log.commit(log.snapshot().sequence))
        func flip() throws {
            let file = try FileHandle(forUpdating: url)
            try file.seek(toOffset: commit.offset + 40)
            let byte = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: commit.offset + 40)
            try file.write(contentsOf: Data([byte ^ 1]))
            try file.close()
        }
        try flip()
        for _ in 0..<2 {
            let error = #expect(throws: NSError.self) { try reader.fetch("Group") }
            #expect(error?.code == CocoaError.Code.fileReadCorruptFile.rawValue && error?.userInfo[NSRecordLogOffsetErrorKey] != nil)
        }
        try flip()
        #expect(try reader.fetch("Group").count == 2)
    }
}
