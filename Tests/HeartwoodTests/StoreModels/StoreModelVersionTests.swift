import Foundation
import Testing

@testable import Heartwood

/// The choice of a compiled model's version by a store's metadata.
@Suite struct StoreModelVersionTests {
    private struct Bundle {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).momd")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        func remove() { try? FileManager.default.removeItem(at: url) }

        func add(_ version: String, _ entities: [String], configuration: [String]? = nil) throws {
            var xml = entities.map { "<entity name=\"\($0)\" representedClassName=\"\(version)\"/>" }.joined()
            if let configuration {
                xml += "<configuration name=\"Part\">" + configuration.map { "<memberEntity name=\"\($0)\"/>" }.joined() + "</configuration>"
            }
            try Data(CompiledModelWriter.bytes(try ModelTests.load(xml))).write(to: url.appendingPathComponent(version + ".mom"))
        }

        func info(
            _ hashes: [String: [String: UInt8]], checksums: [String: String] = [:], current: String? = nil,
            _ format: PropertyListSerialization.PropertyListFormat = .binary
        ) throws {
            var list: [String: Any] = [
                "NSManagedObjectModel_VersionHashes": hashes.mapValues { $0.mapValues { Data([$0]) } },
                "NSManagedObjectModel_VersionChecksums": checksums,
            ]
            list["NSManagedObjectModel_CurrentVersionName"] = current
            try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0)
                .write(to: url.appendingPathComponent("VersionInfo.plist"))
        }

        /// The version whose model is chosen; the classes of its entities are named after it.
        func version(_ hashes: [String: UInt8]?, checksum: String? = nil, file: String? = nil) throws -> String? {
            var metadata: [String: Any] = ["NSStoreType": "SQLite"]
            metadata[NSStoreModelVersionHashesKey] = hashes?.mapValues { Data([$0]) }
            metadata["NSStoreModelVersionChecksumKey"] = checksum
            let place = file.map { url.appendingPathComponent($0) } ?? url
            return try StoreModelVersion.model(forStoreWith: metadata, in: place).entities.first?.managedObjectClassName
        }

        func refusal(_ hashes: [String: UInt8]?, file: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) -> String {
            let error = #expect(throws: (any Error).self, sourceLocation: sourceLocation) { try version(hashes, file: file) } as NSError?
            #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError, sourceLocation: sourceLocation)
            return error?.localizedDescription ?? ""
        }
    }

    @Test(arguments: [nil, "One", "Two", "Three"] as [String?])
    func `The version with the store's hashes is chosen, whichever is current`(current: String?) throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        for (version, entities) in [("One", ["A"]), ("Two", ["A"]), ("Three", ["A", "B"])] { try bundle.add(version, entities) }
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            try bundle.info(["One": ["A": 1], "Two": ["A": 2], "Three": ["A": 2, "B": 3]], current: current, format)
            #expect(try bundle.version(["A": 1]) == "One")
            #expect(try bundle.version(["A": 2]) == "Two")
            #expect(try bundle.version(["A": 2, "B": 3]) == "Three")
        }
    }

    @Test
    func `Of versions with equal hashes the checksum names one, then the current one is chosen, then the first`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        for version in ["One", "Two", "Three"] { try bundle.add(version, ["A"]) }
        let hashes: [String: [String: UInt8]] = ["One": ["A": 1], "Two": ["A": 1], "Three": ["A": 1]]
        try bundle.info(hashes, checksums: ["One": "x", "Two": "y", "Three": "z"], current: "Three")
        #expect(try bundle.version(["A": 1], checksum: "y") == "Two")
        #expect(try bundle.version(["A": 1], checksum: "other") == "Three")
        #expect(try bundle.version(["A": 1]) == "Three")
        try bundle.info(hashes)
        #expect(try bundle.version(["A": 1]) == "One")
    }

    @Test
    func `A store of one configuration has a part of the version's entities`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        try bundle.add("One", ["A", "B"])
        try bundle.add("Two", ["A", "B"], configuration: ["A"])
        try bundle.info(["One": ["A": 1, "B": 2], "Two": ["A": 1, "B": 2]], current: "One")
        #expect(try bundle.version(["A": 1]) == "Two")
        #expect(bundle.refusal(["B": 2]).contains("One has besides A"))
        #expect(bundle.refusal([:]).contains("One has besides A, B"))
    }

    @Test
    func `If no version is the store's, the error lists them and how each differs`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        try bundle.add("One", ["A", "B"])
        #expect(bundle.refusal(["A": 1]).contains("has no VersionInfo.plist"))
        try bundle.info([:])
        #expect(bundle.refusal(["A": 1]).contains("It has none."))
        try bundle.info(["One": ["A": 1, "B": 2], "Two": ["A": 9]])
        let text = bundle.refusal(["A": 7, "C": 3])
        #expect(text.contains("One differs in A; has besides B; lacks C") && text.contains("Two differs in A; lacks C"))
        #expect(bundle.refusal(["A": 9]).contains("there is no Two.mom"))
        #expect(bundle.refusal(nil).contains("has no version hashes"))
        #expect(bundle.refusal(["A": 1], file: "None.mom").contains("there is no such model"))
    }

    @Test
    func `A version's file is taken if its hashes are the store's, or its entities' names where it has no hashes`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        try bundle.add("One", ["A"])
        try bundle.add("Two", ["A"])
        #expect(try bundle.version(["A": 1], file: "One.mom") == "One")
        #expect(bundle.refusal(["B": 1], file: "One.mom").contains("has besides A; lacks B"))
        try bundle.info(["One": ["A": 1]])
        #expect(try bundle.version(["A": 1], file: "One.mom") == "One")
        #expect(bundle.refusal(["A": 2], file: "One.mom").contains("One differs in A"))
        #expect(try bundle.version(["A": 2], file: "Two.mom") == "Two")
    }

    @Test
    func `A store's model is its cache, else the version of a compiled model; without both the error says what to give`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        try bundle.add("One", ["A"])
        try bundle.info(["One": ["A": 1]])
        let folder = ModelTests.root.appendingPathComponent("Tests/Goldens/ModelCaches")
        let whole = Array(try Data(contentsOf: folder.appendingPathComponent("everything.cache")))
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: ["A": Data([1])]]
        for cache in [whole, Array(whole.prefix(100)), [], nil] as [[UInt8]?] {
            let made = try StoreModelChoice(cache: cache, metadata: metadata, path: "App.sqlite", bundle: bundle.url)
            #expect(made.origin == (cache == whole ? .cache : .compiled(bundle.url)) && made.model.entities.count == (cache == whole ? 6 : 1))
            if cache == whole {
                #expect(try StoreModelChoice(cache: cache, metadata: [:], path: "App.sqlite").origin == .cache)
            } else {
                let error = #expect(throws: (any Error).self) { try StoreModelChoice(cache: cache, metadata: metadata, path: "App.sqlite") }
                let text = (error as NSError?)?.localizedDescription ?? ""
                #expect(text.hasPrefix("App.sqlite") && text.lowercased().contains("give the model's file"), "\(text)")
            }
        }
    }

    @Test
    func `A damaged list of versions is an error, whichever bytes it has`() throws {
        let bundle = try Bundle()
        defer { bundle.remove() }
        try bundle.add("One", ["A"])
        let deep = "<plist version=\"1.0\">" + String(repeating: "<array>", count: 5000) + String(repeating: "</array>", count: 5000)
        let lists: [[UInt8]] = [
            [], [0], Array("bplist00".utf8), Array("<plist".utf8), Array("<plist version=\"1.0\"><string>A</string></plist>".utf8),
            Array(deep.utf8), Array(String(repeating: "(", count: 100_000).utf8),
        ]
        for bytes in lists {
            try Data(bytes).write(to: bundle.url.appendingPathComponent("VersionInfo.plist"))
            #expect(bundle.refusal(["A": 1]).contains("has no VersionInfo.plist that can be read"))
        }
    }
}
