import Foundation
import Testing

@Suite struct SalvageCommandTests {
    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test
    func `A damaged store is salvaged into a new one`() throws {
        let store = ToolProcess.temporaryPath(), whole = ToolProcess.temporaryPath(), new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, whole, new) }
        #expect(try ToolProcess.run("demo", "--people", "1000", "--store", store).status == 0)
        let people = try ToolProcess.run("export", store, "--entity", "Contact").output

        // A sound store comes out whole, with the same identity.
        let sound = try ToolProcess.run("salvage", store, "-o", whole)
        #expect(sound.status == 0 && sound.output.contains("complete"), "\(sound.output)\(sound.error)")
        #expect(try ToolProcess.run("verify", whole).output.hasPrefix("sound"))
        #expect(try ToolProcess.run("export", whole, "--entity", "Contact").output == people)

        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        for at in 30_000..<31_000 { bytes[at] ^= 0x10 }
        for at in 0..<512 { bytes[at] = 0xEE }
        for at in 4096..<4608 { bytes[at] = 0xEE }
        try bytes.write(to: URL(fileURLWithPath: store))
        let result = try ToolProcess.run("salvage", "--output", new, store, "--json")
        #expect(result.status == 1, "\(result.error)")
        let report = try json(result.output)
        #expect(report["isComplete"] as? Bool == false && report["newPath"] as? String == new)
        #expect((report["damage"] as? [[String: Any]])?.contains { ($0["offset"] as? Int ?? .max) <= 30_000 && ($0["end"] as? Int ?? 0) >= 31_000 } == true)
        let tables = report["tables"] as? [[String: Any]] ?? []
        let contacts = try #require(tables.first { $0["name"] as? String == "Contact" })
        let kept = try #require(contacts["kept"] as? Int)
        #expect(kept > 0 && kept < 1000)
        #expect(kept + (contacts["lost"] as? Int ?? 0) + (contacts["unaccounted"] as? Int ?? 0) == 1000, "\(contacts)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
        #expect(try ToolProcess.run("verify", new).status == 0)
        // Each object in the new store is unchanged.
        let before = Set(people.split(separator: "\n")),
            after = try ToolProcess.run("export", new, "--entity", "Contact").output.split(separator: "\n")
        #expect(after.count == kept && before.isSuperset(of: after))

        // The tool reports that the file exists, and does not overwrite it.
        #expect(try ToolProcess.run("salvage", store, "-o", new).status == 2)
        #expect(try ToolProcess.run("salvage", store).status == 2)
        ToolProcess.cleanUp(new)
        let words = try ToolProcess.run("salvage", store, "-o", new, "--no-mmap")
        #expect(words.status == 1 && words.output.contains("damaged: bytes") && words.output.contains("incomplete"), "\(words.output)")
    }

    @Test
    func `Without an identity the tool gives advice`() throws {
        let store = ToolProcess.temporaryPath(), new = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store, new) }
        try ToolProcess.run("demo", "--people", "100", "--store", store)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        for at in [1024, 5120] { bytes[at + 40] ^= 1 }
        try bytes.write(to: URL(fileURLWithPath: store))
        let result = try ToolProcess.run("salvage", store, "-o", new)
        #expect(result.status == 1 && result.error.contains("identity") && result.error.contains("backup"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: new))
    }
}
