import Foundation
import Testing

@Suite struct LayerTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Sources")

    private static func files(_ target: String) throws -> [SwiftSource] { try Layers.files(in: sources.appendingPathComponent(target)) }

    @Test
    func `No file of a target with layers refers to a layer above its own`() throws {
        let clock = ContinuousClock(), start = clock.now
        let sources = Dictionary(
            uniqueKeysWithValues: try [
                "Heartwood", "HeartwoodSQLite", "RecordLog", "RecordLogRows", "HeartwoodFileReading", "HeartwoodPredicateClasses", "HeartwoodModelCode",
                "HeartwoodTool", "HeartwoodPostgreSQLClient",
            ].map { ($0, try Self.files($0)) })
        func layers(_ target: String, _ order: [String]) -> Layers {
            let others = sources.filter { $0.key != target }.values.map(Layers.foreignMembers)
            return Layers(order, files: sources[target] ?? [], foreign: Set(others.joined()))
        }
        let targets = [
            ("Heartwood", layers("Heartwood", ["Model", "Storage", "Graph"])),
            ("HeartwoodSQLite", layers("HeartwoodSQLite", ["Files", "Stores"])),
            (
                "HeartwoodPostgreSQLClient",
                layers("HeartwoodPostgreSQLClient", ["Basics", "Library", "Values", "Results", "Connection", "Copy", "Listening", "Pool"])
            ),
            ("RecordLog", layers("RecordLog", ["Format", "IO", "Index", "Snapshots", "Store", "Tools", "Backup"])),
        ]
        for (name, layers) in targets {
            #expect(layers.files.count > 30, "the sources of \(name) are there")
            for path in layers.strays { Issue.record("Sources/\(name)/\(path) lies in none of the layers \(layers.order)") }
            for reference in layers.upward { Issue.record("Sources/\(name)/\(reference)") }
        }
        #expect(clock.now - start < .seconds(20), "the check is quick; it takes about a second")
    }

    @Test
    func `A reference upwards is found, and named by file, line and symbol`() {
        let below = """
            struct Below {
                // Above is no reference here, nor is "Above" in a text.
                let text = "Above"
                func use() -> Int { 1 }
            }
            """
        let above = """
            struct Above { static func climb() {} }
            let aboveConstant = 1
            extension Below { func reach() {} }
            private struct Hidden {}
            """
        func upward(_ more: String) -> [String] {
            let files = [("Low/Below.swift", below + "\n" + more), ("High/Above.swift", above)]
            return Layers(["Low", "High"], files: files.map { SwiftSource(path: $0, source: Array($1.utf8)) }).upward.map(\.description)
        }
        #expect(upward("") == [])
        #expect(upward("let other = Hidden()") == [])
        #expect(upward("func use(_ Above: Int) { let reach = Above }") == [])
        #expect(upward("let made: Above? = nil") == ["Low/Below.swift:6: Above is declared above, in High/Above.swift"])
        #expect(upward("\nlet copy = aboveConstant") == ["Low/Below.swift:7: aboveConstant is declared above, in High/Above.swift"])
        #expect(upward("func go(_ below: Below) { below.reach() }") == ["Low/Below.swift:6: reach is declared above, in High/Above.swift"])
        #expect(upward("let text2 = \"\\(Above.self)\"") == ["Low/Below.swift:6: Above is declared above, in High/Above.swift"])
    }

    @Test
    func `A file outside of the layers is found`() {
        let layers = Layers(["Low"], files: [SwiftSource(path: "Elsewhere/File.swift", source: []), SwiftSource(path: "File.swift", source: [])])
        #expect(layers.strays == ["Elsewhere/File.swift", "File.swift"])
    }
}
