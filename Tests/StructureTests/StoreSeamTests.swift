import Foundation
import Testing

/// The stack asks stores through protocols (`GraphStore`), so that a store may live in another module.
@Suite struct StoreSeamTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    /// The classes of stores and of their views, and the folder of each.
    private static func classes(_ files: [SwiftSource]) -> [String: String] {
        var found: [String: String] = [:]
        for file in files {
            let list = file.tokens.list
            for (index, token) in list.enumerated() where token.text == "class" && index + 1 < list.count {
                let name = list[index + 1].text
                guard file.names.contains(name), name.hasSuffix("Store") || name.hasSuffix("View") || name == "BackingLog" else { continue }
                found[name] = String(file.path[..<(file.path.lastIndex(of: "/") ?? file.path.startIndex)])
            }
        }
        // Core Data's own, which programs hand over as `Any`.
        found["NSPersistentStore"] = nil
        return found
    }

    /// The casts to a store's or a view's class outside of its folder, and outside of the folders in that.
    private static func casts(_ files: [SwiftSource]) -> [String] {
        let classes = classes(files)
        var found: [String] = []
        for file in files {
            let list = file.tokens.list
            for (index, token) in list.enumerated() where !token.isMember && (token.text == "as" || token.text == "is") {
                var next = index + 1
                while next < list.count, ["?", "!", "any", "("].contains(list[next].text) { next += 1 }
                guard next < list.count, let folder = classes[list[next].text], !file.path.hasPrefix(folder + "/") else { continue }
                found.append("\(file.path):\(token.line): cast to \(list[next].text)")
            }
        }
        return found
    }

    @Test
    func `No file casts to the class of a store or of a view outside of its folder`() throws {
        let files = try Layers.files(in: Self.sources).filter { $0.path.hasPrefix("Heartwood/") || $0.path.hasPrefix("HeartwoodSQLite/") }
        let classes = Self.classes(files)
        for name in ["RecordLogStore", "SQLiteStore", "BinaryStore", "NSIncrementalStore", "RecordLogView", "IncrementalView"] {
            #expect(classes[name] != nil, "\(name) is there")
        }
        for cast in Self.casts(files) { Issue.record("Sources/\(cast)") }
    }

    @Test
    func `A cast to a store's class is found, also to its metatype, and one in its folder is none`() {
        let store = "class LogStore: Base {}\nclass LogView {}\nlet own = view as? LogView"
        let user = "let log = store as? LogStore\nlet isLog = kind is LogStore.Type\nlet other = store as? any Saving\n// as? LogStore"
        let files = [("Stores/Log/LogStore.swift", store), ("User.swift", user)]
        #expect(Self.casts(files.map { SwiftSource(path: $0, source: Array($1.utf8)) }) == [
            "User.swift:1: cast to LogStore", "User.swift:2: cast to LogStore",
        ])
    }
}
