import Foundation
import Testing

@Suite struct DocumentedNamesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Names of others that pages speak of, and no source has.
    private static let foreign = ["AbortIncompleteMultipartUpload", "OP_MakeRecord", "MODULE+Models.swift"]

    @Test
    func `Each file, path and name that a page on internals speaks of is where the page says`() throws {
        var names = DocumentedNames { FileManager.default.fileExists(atPath: Self.root.appendingPathComponent($0).path) }
        for folder in ["Sources", "Plugins", "Tests", "Benchmarks/Sources"] {
            let url = Self.root.appendingPathComponent(folder)
            for path in try FileManager.default.subpathsOfDirectory(atPath: url.path) where path.hasSuffix(".swift") {
                names.add(folder + "/" + path, [UInt8](try Data(contentsOf: url.appendingPathComponent(path))))
            }
        }
        let folder = Self.root.appendingPathComponent("docs/internals")
        let pages = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).filter { $0.pathExtension == "md" }
        #expect(pages.count > 30, "the pages are there")
        for page in pages + [Self.root.appendingPathComponent("ARCHITECTURE.md")] {
            for fault in names.faults(of: try String(contentsOf: page, encoding: .utf8)) where !Self.foreign.contains(where: fault.hasSuffix) {
                Issue.record("\(page.lastPathComponent): \(fault)")
            }
        }
    }

    @Test
    func `A wrong file, path, name and layer of a page are found`() {
        var names = DocumentedNames { $0 == "Sources/Tree" }
        names.add("Sources/Tree/High/Leaf.swift", Array("struct Leaf { var colour = 1 }".utf8))
        let page = """
            - **Code**: High: `Leaf.swift`. Low: `Leaf.swift`, `Root.swift`.

            `Leaf` and `Root` lie in `Sources/Tree` and `Sources/Bush`. `colour` is no type, nor is `LIKE`.
            ```swift
            let example = "`Missing.swift`"
            ```
            """
        #expect(
            names.faults(of: page) == [
                "there is no file Root.swift", "no source has the name Root", "there is no path Sources/Bush",
                "Leaf.swift lies not in Low but is Sources/Tree/High/Leaf.swift",
            ])
    }
}
