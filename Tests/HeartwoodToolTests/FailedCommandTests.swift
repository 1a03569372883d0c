import Foundation
import Heartwood
import Testing

/// Every command on every kind of file that it cannot take.
@Suite struct FailedCommandTests {
    /// The arguments of a command, with IN for the file that is given and OUT for the one that is to be made.
    private static let commands = [
        "import OUT --model IN --entity Package IN", "import IN --model MODEL --entity Package --key name BAD", "import STORE --model OTHER BAD", "import IN BAD",
        "export IN --all", "export IN --entity Package", "export IN --format sqlite -o OUT", "export IN --format sqlite --plain -o OUT",
        "export STORE --format sqlite -o OUT --model IN", "query IN Package", "query IN Package --at 1", "query STORE Package --model IN", "inspect IN",
        "verify IN", "history IN", "log IN", "diff IN --from 1", "diff STORE IN", "compact IN", "compact IN --to OUT", "salvage IN -o OUT", "report IN -o OUT", "report STORE -o IN", "model IN",
        "model IN --svg OUT", "model IN --source OUT", "model diff IN STORE", "migrate IN --to MODEL", "migrate STORE --to IN", "convert IN -o OUT",
        "convert IN --dry-run", "convert SQLITE -o OUT --model IN", "backup IN OUT", "backup STORE IN", "backup list IN", "backup verify IN",
        "backup status IN OUT", "backup prune IN --keep-last 1", "backup merge IN", "restore IN -o OUT", "promote IN", "cherry-pick IN --only Package --into STORE",
        "cherry-pick STORE --only Package --into IN", "generate IN -o OUT", "compile IN -o OUT", "demo --store IN --people 100",
    ]

    private static let inputs = ["missing", "nowhere/missing", "folder", "empty", "text", "store", "damaged", "cut", "sqlite", "plain.sqlite", "plist", "archive", "model.xcdatamodel"]

    /// A folder of files, made once.
    private static let template = Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-failed-\(getpid())")
        try? FileManager.default.removeItem(at: folder)
        try files(in: folder)
        return folder
    }

    private static func files(in folder: URL) throws {
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        try FileManager.default.createDirectory(atPath: path("folder"), withIntermediateDirectories: true)
        try Data("something\n".utf8).write(to: URL(fileURLWithPath: path("folder/file")))
        try Data().write(to: URL(fileURLWithPath: path("empty")))
        try Data("{\"name\": 1, \n".utf8).write(to: URL(fileURLWithPath: path("text")))
        try Data("{\"name\": \"a\", \"size\": 1.5}\n".utf8).write(to: URL(fileURLWithPath: path("bad.jsonl")))
        try ToolProcess.importExcerpt(to: path("store"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path("store")))
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path("cut")))
        for at in stride(from: 9000, to: bytes.count, by: 700) { bytes[at] ^= 0xFF }
        try bytes.write(to: URL(fileURLWithPath: path("damaged")))
        try FileManager.default.copyItem(atPath: CoreDataStores.golden("attributes-types"), toPath: path("sqlite"))
        try FileManager.default.copyItem(atPath: CoreDataStores.golden("attributes-types"), toPath: path("sound.sqlite"))
        try Data("SQLite format 3\0".utf8 + [UInt8](repeating: 0, count: 4080)).write(to: URL(fileURLWithPath: path("plain.sqlite")))
        try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0).write(to: URL(fileURLWithPath: path("plist")))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: URL(fileURLWithPath: ToolProcess.model)))
        try coordinator.remove(try coordinator.addPersistentStore(
            ofType: NSBinaryStoreType, configurationName: nil, at: URL(fileURLWithPath: path("archive"))))
        try FileManager.default.createDirectory(atPath: path("other.xcdatamodel"), withIntermediateDirectories: true)
        try Data("<model><entity name=\"Other\"/></model>".utf8).write(to: URL(fileURLWithPath: path("other.xcdatamodel/contents")))
        try FileManager.default.createDirectory(atPath: path("model.xcdatamodel"), withIntermediateDirectories: true)
        try Data("<model><entity".utf8).write(to: URL(fileURLWithPath: path("model.xcdatamodel/contents")))
    }

    /// Names and sizes of all files.
    private static func listing(_ folder: URL) -> Set<String> {
        var found: Set<String> = []
        guard let files = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        for case let file as String in files {
            let size = (try? FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(file).path)[.size] as? Int) ?? 0
            found.insert("\(file) \(size)")
        }
        return found
    }

    /// The steps that only a program can do.
    private static let library = try! NSRegularExpression(
        pattern: #"\bNS[A-Z]\w+|\(_:|\w+\(\w+:|\w\(\)|\bStoreOptions\b|\bLogStore\b|\bUserInfo\b|Error Domain|\(null\)|Optional\(|`asOf`|store type|the options?\b"#)

    @Test(arguments: commands)
    func `A command that fails says so in words of the tool, and leaves no file behind`(command: String) throws {
        try CoreDataStores.withFolder { folder in
            for input in Self.inputs {
                let work = folder.appendingPathComponent("work")
                try FileManager.default.copyItem(at: try Self.template.get(), to: work)
                let before = Self.listing(work)
                let names = ["IN": input, "OUT": "out", "STORE": "store", "MODEL": ToolProcess.model, "BAD": "bad.jsonl", "OTHER": "other.xcdatamodel", "SQLITE": "sound.sqlite"]
                let words = command.split(separator: " ").map { word in
                    names[String(word)].map { $0.hasPrefix("/") ? $0 : work.appendingPathComponent($0).path } ?? String(word)
                }
                let result = try ToolProcess.runWords(words)
                let title: Comment = "\(command), \(input): \(result.status) \(result.output)\(result.error)"
                #expect((0...2).contains(result.status), title)
                if result.status != 0 {
                    let text = result.error.replacing(folder.path, with: "")
                    #expect(!result.error.isEmpty || !result.output.isEmpty, title)
                    #expect(Self.library.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) == nil, title)
                    let left = Self.listing(work).subtracting(before)
                    #expect(left.isEmpty, "\(left.sorted()) after \(command), \(input): \(result.error)")
                }
                try FileManager.default.removeItem(at: work)
            }
        }
    }
}
