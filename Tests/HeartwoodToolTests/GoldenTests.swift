import Foundation
import RecordLog
import Testing

@testable import Heartwood

/// The files in Tests/Goldens still give their original content; FORMAT.md, "The promise of version 1", says how long they must.
@Suite struct GoldenTests {
    @Test(arguments: Goldens.Kind.allCases)
    func `A golden file exports its original content`(kind: Goldens.Kind) throws {
        let store = try Goldens.copy(kind)
        defer { ToolProcess.cleanUp(store) }
        for entity in Goldens.entities {
            let export = try ToolProcess.runWords(["export", store, "--entity", entity] + (kind == .corrupt ? ["--accept-damage"] : []))
            #expect(export.status == 0, "\(export.error)")
            #expect(try export.output == Goldens.lines(kind, entity), "\(kind) \(entity)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == Data(contentsOf: Goldens.file(kind)))
    }

    @Test
    func `Files that today's code makes export what the goldens export`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("goldens-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try Goldens.make(in: directory)
        for kind in Goldens.Kind.allCases {
            #expect(FileManager.default.fileExists(atPath: directory.appendingPathComponent("\(kind).golden").path))
            for entity in Goldens.entities {
                let made = try String(contentsOf: Goldens.exports(kind, entity, in: directory), encoding: .utf8)
                let (now, before) = try (Self.content(made), Self.content(Goldens.lines(kind, entity)))
                let first = zip(now, before).first { $0 != $1 }.map { "\($0), before \($1)" } ?? ""
                #expect(now == before, "\(kind) \(entity): \(first)")
            }
        }
    }

    /// Objects and members without their order and their store's identity: both are others each time.
    private static func content(_ lines: String) throws -> [String] {
        try lines.replacing(#/x-coredata://[0-9A-F-]+//#, with: "STORE/").split(separator: "\n").map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let values = object.mapValues { ($0 as? [String])?.sorted() ?? $0 }
            return String(decoding: try JSONSerialization.data(withJSONObject: values, options: .sortedKeys), as: UTF8.self)
        }.sorted()
    }

    /// A file's frames in order, found by the first bytes of each.
    private func frames(_ bytes: Data) throws -> [(kind: UInt8, offset: Int, length: Int)] {
        var frames: [(kind: UInt8, offset: Int, length: Int)] = []
        var offset = 8192
        while offset < bytes.count {
            let length = number(bytes, at: offset, size: 4)
            frames.append((bytes[offset + 16], offset, try #require(length >= 64 ? length : nil)))
            offset += length
        }
        return frames
    }

    private func number(_ bytes: Data, at offset: Int, size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }

    @Test
    func `The golden file has the expected content`() throws {
        let store = try Goldens.copy(.sound)
        defer { ToolProcess.cleanUp(store) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)).count < 200_000)
        let report = try StoreInspection.inspect(path: store)
        #expect(report.tail == .clean && report.formatVersion == 1 && report.checkpoints == 2 && report.commits == 12)
        let kinds = Set(try frames(Data(contentsOf: URL(fileURLWithPath: store))).map(\.kind))
        #expect(kinds == Set(1...11), "every kind of frame: \(kinds)")
        #expect(report.tables.first { $0.name == "Person" }?.columns.contains("nickname") == true)
        #expect(try StoreVerification.verify(path: store).isSound)
        let photos = try #require(report.tables.first { $0.name == "Place" }?.values)
        #expect(photos.count == 3 && photos.bytes == 20_500)
        // Literal values, so that an error in the code cannot also change the expected exports.
        let lines = try Goldens.lines(.sound, "Everything").split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines[0] == #"{"bool":true,"data":"AQID","date":"2026-05-09T06:13:20.125Z","decimal":"12345.6789","double":0.1,"float":0.10000000149011612,"int16":16,"int32":32,"int64":64,"object":"archived ü","string":"plain","uri":"https://example.org/a?b=c#d","uuid":"00112233-4455-6677-8899-AABBCCDDEEFF"}"#)
        #expect(lines[1] == "{}")
        #expect(lines[2] == #"{"bool":false,"data":"","date":"2001-01-01T00:00:00.000Z","decimal":"0","double":0,"float":0,"int16":0,"int32":0,"int64":0,"object":"","string":"","uuid":"00000000-0000-0000-0000-000000000000"}"#)
        #expect(lines[3] == #"{"data":"AA==","date":"1684-02-11T06:13:20.000Z","decimal":"-99999999999999999999999999999999999999","double":-1.7976931348623157e+308,"float":"-inf","int16":-32768,"int32":-2147483648,"int64":-9223372036854775808,"string":"\u0000","uuid":"FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"}"#)
        #expect(lines[4] == #"{"data":"AP8AAAE=","date":"2000-12-31T23:59:59.750Z","decimal":"0.00000000000099999999999999999999999999999999999999","double":"nan","float":1.401298464324817e-45,"int16":32767,"int32":2147483647,"int64":9223372036854775807,"string":"a\u0000b\u0000\u0000ÿ"}"#)
        #expect(lines[5] == "{\"decimal\":\"NaN\",\"double\":-0,\"string\":\"e\u{301} \u{10FFFF} \u{202E}שלום\\n\\\"\\\\/\u{7F}\"}")
        let people = try Goldens.lines(.sound, "Person").split(separator: "\n").map(String.init)
        #expect(people.count == 6)
        #expect(people[0].hasPrefix(#"{"birthday":"1912-04-10T14:13:20.000Z","boss":"ada@example.org","email":"alan@example.org","friends":["grace@example.org"],"name":"Alan M.","nickname":"Prof","#))
        #expect(people[0].contains(#""tags":["blå","no longer empty","red","青 😀"],"tasks":["x-coredata://"#))
    }

    @Test
    func `The first opening for writing cuts off a torn tail`() throws {
        let path = try Goldens.copy(.torn)
        defer { ToolProcess.cleanUp(path) }
        let sound = try Data(contentsOf: Goldens.file(.sound)), torn = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(torn.count > sound.count)
        #expect(try StoreVerification.verify(path: path).tail == .torn)
        let store = try GoldenStore(opening: URL(fileURLWithPath: path))
        try store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == sound.count)
        #expect(try StoreVerification.verify(path: path).isSound)
    }

    @Test
    func `A writer refuses damage to a durable commit`() throws {
        let path = try Goldens.copy(.corrupt)
        defer { ToolProcess.cleanUp(path) }
        let sound = try Data(contentsOf: Goldens.file(.sound)), damaged = try Data(contentsOf: URL(fileURLWithPath: path))
        let offset = try #require(sound.indices.first { sound[$0] != damaged[$0] })
        var options = StoreOptions()
        options.isReadOnly = true
        let whole = try LogStore.open(path: try Goldens.file(.sound).path, options: options)
        let hit = try #require(try whole.commit(whole.snapshot().sequence - 1))
        #expect(UInt64(offset) >= hit.offset && UInt64(offset) < hit.offset + hit.byteCount)
        do {
            _ = try GoldenStore(opening: URL(fileURLWithPath: path))
            Issue.record("a damaged store was opened for writing")
        } catch {
            let cause = try #require((error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError)
            #expect(cause.code == .corrupt && cause.offset == hit.offset)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == damaged)
        #expect(try LogStore.open(path: path, options: options).snapshot().sequence == hit.sequence - 1)
    }

    /// An object whose members are in a damaged index is not exported as an object without members.
    @Test
    func `An export that cannot read an index fails`() throws {
        let path = try Goldens.copy(.compacted)
        defer { ToolProcess.cleanUp(path) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for frame in try frames(bytes) where frame.kind == 6 { bytes[frame.offset + 32] ^= 1 }
        try bytes.write(to: URL(fileURLWithPath: path))
        for format in ["jsonl", "csv"] {
            let export = try ToolProcess.run("export", path, "--entity", "Person", "--format", format)
            #expect(export.status == 1 && !export.output.contains("Alan"), "\(export.output)")
            #expect(export.error.contains("an index block is damaged"), "\(export.error)")
        }
    }

    // MARK: The second reader

    @Test(.enabled(if: FormatReader.python != nil, "\(FormatReader.absence)"), arguments: Goldens.Kind.allCases)
    func `The second reader agrees on a golden file`(kind: Goldens.Kind) throws {
        let path = try Goldens.file(kind).path
        let export = try FormatReader.run([path, "--entity"] + Goldens.entities)
        #expect(export.status == 0, "\(export.error)")
        #expect(try export.output == Goldens.entities.map { try Goldens.lines(kind, $0) }.joined())
        let check = try FormatReader.run([path, "--check"])
        switch kind {
        case .sound, .compacted, .interleaved: #expect(check.status == 0, "\(check.output)\(check.error)")
        case .torn: #expect(check.status == 1 && check.output.hasPrefix("torn: "), "\(check.output)\(check.error)")
        case .corrupt: #expect(check.status == 1 && check.output.hasPrefix("corrupt: "), "\(check.output)\(check.error)")
        }
        if kind == .sound {
            #expect(check.output.contains("\ncheckpoints: 2\n") && check.output.contains("\ncommits: 12\n"), "\(check.output)")
            #expect(!check.output.contains("\ntombstones: 0\n"), "a run hides entries of an older one")
        }
        if kind == .interleaved {
            #expect(check.output.contains("\ncheckpoints: 3\n") && check.output.contains("\ncommits: 18\n"), "\(check.output)")
            #expect(check.output.contains("\ncommits beside checkpoints: 3\n"), "\(check.output)")
        }
    }

    /// Without the newest checkpoint the log is followed from its beginning, over batches of which only the first frames are readable.
    @Test(.enabled(if: FormatReader.python != nil, "\(FormatReader.absence)"), arguments: [Goldens.Kind.sound, .interleaved])
    func `Both readers step over batches`(kind: Goldens.Kind) throws {
        let path = try Goldens.copy(kind)
        defer { ToolProcess.cleanUp(path) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        var end = 0
        for frame in try frames(bytes) {
            if frame.offset < end {
                bytes.replaceSubrange(frame.offset..<frame.offset + frame.length, with: Data(repeating: 0xA5, count: frame.length))
            } else if frame.kind == 9 {
                end = frame.offset + frame.length + number(bytes, at: frame.offset + 32, size: 8)
            }
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let mine = try ToolProcess.run("export", path, "--entity", "Entry"), theirs = try FormatReader.run([path, "--entity", "Entry"])
        #expect(try mine.output == Goldens.lines(kind, "Entry"), "\(mine.error)")
        #expect(try theirs.output == Goldens.lines(kind, "Entry"), "\(theirs.error)")
        let check = try FormatReader.run([path, "--check"])
        #expect(check.status == 1 && check.output.contains("damaged frames of indexes or checkpoints"), "\(check.output)")
    }

    @Test(.enabled(if: FormatReader.python != nil, "\(FormatReader.absence)"))
    func `The second reader agrees on a checkpoint before the first commit`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let store = try LogStore.open(path: path)
        try store.checkpoint()
        _ = try store.write { try $0.setSystemValue(20, [1]) }
        try store.close()
        let check = try FormatReader.run([path, "--check"])
        #expect(check.status == 0, "\(check.output)\(check.error)")
        #expect(check.output.contains("\ncheckpoints: 1\n") && check.output.contains("\ncommits: 1\n"), "\(check.output)")
    }

    /// A fresh store: rows on two pages, values with wide offsets, a commit of many frames; then compacted.
    @Test(.enabled(if: FormatReader.python != nil, "\(FormatReader.absence)"))
    func `The second reader agrees on a fresh store`() throws {
        let path = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(path) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GoldenModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<4200 {
            let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            entry.setValue(number % 100 == 0 ? nil : "entry \(number)", forKey: "text")
            if number == 4150 { entry.setValue(String(repeating: "wide ", count: 20_000), forKey: "text") }
            entry.setValue(number * 7919 % 997, forKey: "size")
        }
        try context.save()
        try store.recordLog?.checkpoint()
        for (index, entry) in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).enumerated() where index % 3 == 0 {
            if index % 2 == 0 { context.delete(entry) } else { entry.setValue(-index, forKey: "size") }
        }
        try context.save()
        func compare() throws {
            let check = try FormatReader.run([path, "--check"])
            #expect(check.status == 0, "\(check.output)\(check.error)")
            let mine = try ToolProcess.run("export", path, "--entity", "Entry"), theirs = try FormatReader.run([path, "--entity", "Entry"])
            #expect(mine.output.split(separator: "\n").count == 3500)
            #expect(mine.output == theirs.output)
        }
        try compare()
        // With a commit of the window, one made during the compaction, and a value that is deleted and set again.
        var isFirst = true
        let log = try #require(store.recordLog)
        try log.write { try $0.setSystemValue(900, [1]) }
        try log.write { try $0.setSystemValue(900, nil) }
        try log.compact(keeping: .commits(1)) { _ in
            defer { isFirst = false }
            return !isFirst || (try? log.write { try $0.setSystemValue(900, [2]) }) != nil
        }
        try compare()
        try log.write { try $0.setSystemValue(900, nil) }
        isFirst = true
        try log.compact { _ in
            defer { isFirst = false }
            return !isFirst || (try? log.write { try $0.setSystemValue(900, [3]) }) != nil
        }
        try compare()
        try log.compact()
        try coordinator.remove(store)
        try compare()
    }
}
