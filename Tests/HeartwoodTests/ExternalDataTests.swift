import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// Attributes with `allowsExternalBinaryDataStorage`.
@Suite struct ExternalDataTests {
    static func model(isExternal: Bool = true, isIndexed: Bool = false) -> NSManagedObjectModel {
        let photo = NSEntityDescription()
        photo.name = "Photo"
        let image = TestStack.attribute("image", .binaryDataAttributeType), title = TestStack.attribute("title", .stringAttributeType)
        image.allowsExternalBinaryDataStorage = isExternal
        photo.properties = [title, image]
        if isIndexed { photo.indexes = [TestStack.index("byImage", [image])] }
        let model = NSManagedObjectModel()
        model.entities = [photo]
        return model
    }

    private func data(_ count: Int, _ seed: UInt8 = 1) -> Data {
        var data = Data(count: count)
        data.withUnsafeMutableBytes { bytes in
            _ = memset(bytes.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1)!, Int32(seed), count)
        }
        return data
    }

    private func appended(_ stack: TestStack, _ body: () throws -> Void) rethrows -> UInt64 {
        let before = stack.store.log?.statistics.bytesAppended ?? 0
        try body()
        return (stack.store.log?.statistics.bytesAppended ?? 0) - before
    }

    @Test(arguments: StoreKind.allCases, [0, 1, 4096, 4097, 3_000_000])
    func `Data of any length comes back`(kind: StoreKind, count: Int) throws {
        let stack = try TestStack(kind, model: Self.model())
        let photo = stack.insert("Photo", ["title": "a", "image": data(count)])
        #expect(photo.value(forKey: "image") as? Data == data(count))
        try stack.context.save()
        #expect(photo.value(forKey: "image") as? Data == data(count))
        let context = stack.newContext()
        let other = try #require(try stack.fetch("Photo", in: context).first)
        #expect(other.value(forKey: "image") as? Data == data(count) && other.value(forKey: "title") as? String == "a")
        other.setValue(nil, forKey: "image")
        try context.save()
        stack.context.refreshAllObjects()
        #expect(photo.value(forKey: "image") == nil)
    }

    /// Neither a change of another attribute nor setting the same data writes the data.
    @Test
    func `Unchanged data is not written again`() throws {
        let stack = try TestStack(.recordLog, model: Self.model())
        let photo = stack.insert("Photo", ["title": "a", "image": data(2_500_000)])
        #expect(try appended(stack) { try stack.context.save() } > 2_500_000)
        photo.setValue("b", forKey: "title")
        #expect(try appended(stack) { try stack.context.save() } < 400)
        photo.setValue(data(2_500_000), forKey: "image")
        photo.setValue("c", forKey: "title")
        #expect(try appended(stack) { try stack.context.save() } < 400)
        photo.setValue(data(2_500_000, 2), forKey: "image")
        #expect(try appended(stack) { try stack.context.save() } > 2_500_000)
        let context = stack.newContext()
        let found = try #require(try stack.fetch("Photo", in: context).first)
        #expect(found.value(forKey: "image") as? Data == data(2_500_000, 2) && found.value(forKey: "title") as? String == "c")
    }

    /// An object that was read before a compaction reads its data from its row's file.
    @Test
    func `Data is read across a compaction`() throws {
        let stack = try TestStack(.recordLog, model: Self.model())
        stack.insert("Photo", ["title": "a", "image": data(20_000)])
        try stack.context.save()
        let context = stack.newContext()
        let early = try #require(try stack.fetch("Photo", in: context).first)
        #expect(early.value(forKey: "title") as? String == "a")
        _ = try #require(stack.store.log).compact()
        stack.insert("Photo", ["title": "b"])
        try stack.context.save()
        #expect(try stack.fetch("Photo", in: context).count == 2)
        #expect(early.value(forKey: "image") as? Data == data(20_000))
        early.setValue("changed", forKey: "title")
        try context.save()
        #expect(early.value(forKey: "image") as? Data == data(20_000))
        #expect(context.readingFailure == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `Predicates treat external data as other data`(kind: StoreKind) throws {
        let stack = try TestStack(kind, model: Self.model())
        for (title, image) in [("a", data(5)), ("b", data(9000)), ("c", data(9000, 2)), ("d", nil)] as [(String, Data?)] {
            let photo = stack.insert("Photo", ["title": title])
            photo.setValue(image, forKey: "image")
        }
        try stack.context.save()
        stack.context.refreshAllObjects()
        func titles(_ format: String, _ arguments: Any...) throws -> [String] {
            try stack.fetch("Photo", format, arguments, sort: [NSSortDescriptor(key: "title", ascending: true)])
                .compactMap { $0.value(forKey: "title") as? String }
        }
        #expect(try titles("image == %@", data(9000)) == ["b"] && titles("image == %@", data(5)) == ["a"])
        #expect(try titles("image != %@", data(9000)) == ["a", "c", "d"])
        #expect(try titles("image IN %@", [data(5), data(9000, 2)]) == ["a", "c"])
        #expect(try titles("image == nil") == ["d"] && titles("image != nil") == ["a", "b", "c"])
        #expect(try stack.fetch("Photo", sort: [NSSortDescriptor(key: "image", ascending: true)]).count == 4)
    }

    @Test
    func `An index over external data is refused`() throws {
        let error = #expect(throws: (any Error).self) { try TestStack(.recordLog, model: Self.model(isIndexed: true)) }
        #expect("\(error.map { ($0 as NSError).localizedDescription } ?? "")".contains("large values"))
    }

    /// The flag changes how objects are stored, so it is part of an entity's version; without it a version is unchanged.
    @Test
    func `The flag is part of the version and of the stored model`() throws {
        let external = Self.model(), plain = Self.model(isExternal: false)
        #expect(external.entityVersionHashesByName["Photo"] != plain.entityVersionHashesByName["Photo"])
        let stack = try TestStack(.recordLog, model: external)
        let column = try #require(stack.store.log?.snapshot().catalog.table(named: "Photo")?.currentLayout.columns.last)
        #expect(column.name == "image" && column.type == .value)
        #expect(throws: (any Error).self) { try TestStack(.recordLog, model: plain, at: stack.url) }
        let stored = String(decoding: try external.archivedBytes(), as: UTF8.self)
        #expect(stored.contains(#""allowsExternalBinaryDataStorage":true"#))
        #expect(!String(decoding: try plain.archivedBytes(), as: UTF8.self).contains("allowsExternal"))
    }

    /// A save would have trapped: rows are built with the model's types.
    @Test
    func `A table with columns of other types is refused`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-\(UUID().uuidString).heartwood")
        defer { try? FileManager.default.removeItem(at: url) }
        let model = Self.model()
        model.makeImmutable()
        let log = try LogStore.open(path: url.path)
        let metadata = RecordLogMetadata.initial(identifier: log.storeID, type: NSRecordLogStoreType, model: model, configuration: nil)
        try log.write { transaction in
            _ = try transaction.defineTable(name: "Photo", columns: [("title", .text), ("image", .bytes)])
            try transaction.setSystemValue(RecordLogSystemRow.metadata, try RecordLogMetadata.encode(metadata))
            try transaction.setSystemValue(RecordLogSystemRow.model, try model.archivedBytes())
            let checksum = RecordLogMetadata.checksum(of: model, configuration: nil)
            try transaction.setSystemValue(RecordLogSystemRow.modelChecksum, Array(checksum.utf8))
        }
        try log.close()
        let error = #expect(throws: (any Error).self) { try TestStack(.recordLog, model: model, at: url) }
        #expect("\(error.map { ($0 as NSError).localizedDescription } ?? "")".contains("Photo.image"))
    }

    @Test
    func `A model file can state the flag`() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).xcdatamodel")
        defer { try? FileManager.default.removeItem(at: url) }
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try """
            <?xml version="1.0"?>
            <model><entity name="A"><attribute name="x" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="y" optional="YES" attributeType="Binary"/></entity></model>
            """.write(to: url.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let attributes = try #require(try NSManagedObjectModel.load(contentsOf: url).entitiesByName["A"]?.attributesByName)
        #expect(attributes["x"]?.allowsExternalBinaryDataStorage == true && attributes["y"]?.allowsExternalBinaryDataStorage == false)
    }

    /// A part of the data is damaged: the getter returns nil, and the context remembers the failure.
    @Test
    func `Damaged data is a failure, not other data`() throws {
        let stack = try TestStack(.recordLog, model: Self.model())
        stack.insert("Photo", ["title": "a", "image": data(9000, 0x77)])
        try stack.context.save()
        try stack.store.log?.checkpoint()
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        var bytes = try Data(contentsOf: stack.url)
        let range = try #require(bytes.range(of: data(9000, 0x77)))
        bytes[range.lowerBound + 5000] = 0x78
        try bytes.write(to: stack.url)
        let again = try TestStack(.recordLog, model: Self.model(), at: stack.url)
        let photo = try #require(try again.fetch("Photo").first)
        #expect(photo.value(forKey: "title") as? String == "a" && photo.value(forKey: "image") == nil)
        let failure = try #require(again.context.readingFailure as? NSError)
        #expect((failure.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .corrupt)
    }
}
