import Foundation
import Testing

@Suite struct CommandTests {
    @Test
    func `Help is given for the tool and each command`() throws {
        let help = try ToolProcess.run("--help")
        #expect(help.status == 0)
        for command in ["demo", "import", "export", "query", "inspect", "verify", "history", "compact", "salvage", "report", "model"] {
            #expect(help.output.contains(command))
            let own = try ToolProcess.run(command, "--help")
            #expect(own.status == 0 && own.output.contains("USAGE: heartwood \(command)"))
        }
        #expect(try ToolProcess.run().status == 2)
        let unknown = try ToolProcess.run("explode")
        #expect(unknown.status == 2 && unknown.error.contains("explode"))
        #expect(try ToolProcess.run("verify").status == 2)
        #expect(try ToolProcess.run("verify", "a", "b").status == 2)
        #expect(try ToolProcess.run("demo", "--people", "few").status == 2)
    }

    @Test
    func `A demo store can be inspected`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        let demo = try ToolProcess.run("demo", "--people", "1000", "--store", store)
        #expect(demo.status == 0, "\(demo.error)")
        #expect(demo.output.contains("Try next"))
        let report = try ToolProcess.run("inspect", store, "--json")
        #expect(report.status == 0)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Any])
        let tables = json["tables"] as? [[String: Any]] ?? []
        #expect(tables.contains { $0["name"] as? String == "Contact" && $0["rows"] as? Int == 1000 })
        #expect(json["tail"] as? String == "clean")
        #expect(try ToolProcess.run("inspect", store).output.contains("Contact"))
        let sequence = try #require(json["sequence"] as? Int)
        #expect(try ToolProcess.run("inspect", store, "--commit", "\(sequence)").output.contains("Contact"))
        #expect(try ToolProcess.run("inspect", store, "--commit", "999999").status == 1)
        let uri = try #require(demo.output.split(separator: " ").first { $0.hasPrefix("x-coredata") }?.split(separator: "\n").first)
        #expect(try ToolProcess.run("inspect", store, "--object", String(uri)).output.contains("@example.org"))
        #expect(try ToolProcess.run("verify", store).status == 0)
        let kept = try ToolProcess.run("compact", store, "--keep-commits", "1")
        #expect(kept.output.contains("after") && kept.output.contains("1 commit kept"), "\(kept.output)\(kept.error)")
        #expect(try ToolProcess.run("inspect", store, "--commit", "\(sequence)").output.contains("Contact"))
        #expect(try ToolProcess.run("compact", store, "--keep-since", "2001-01-01T00:00:00Z").output.contains("1 commit kept"))
        #expect(try ToolProcess.run("compact", store, "--keep-since", "soon").status == 2)
        #expect(try ToolProcess.run("compact", store, "--keep-since", "1", "--keep-commits", "1").status == 2)
        #expect(try ToolProcess.run("compact", store).output.contains("after"))
        let sound = try ToolProcess.run("verify", store).output
        #expect(sound.hasPrefix("sound"))
        // Reading instead of mapping gives the same.
        #expect(try ToolProcess.run("verify", store, "--no-mmap").output == sound)
        #expect(try ToolProcess.run("inspect", store, "--no-mmap").output == ToolProcess.run("inspect", store).output)
        #expect(try ToolProcess.run("inspect", store, "--object", String(uri), "--no-mmap").output.contains("@example.org"))
    }

    @Test
    func `A file that is not a store is reported as such`() throws {
        let file = ToolProcess.temporaryPath("txt"), missing = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(file) }
        try "hello".write(toFile: file, atomically: true, encoding: .utf8)
        for command in [["verify"], ["inspect"], ["compact"], ["salvage", "-o", missing + ".new"], ["export", "--entity", "E"]] {
            for path in [file, missing, FileManager.default.temporaryDirectory.path] {
                let (process, output, error) = try ToolProcess.start([command[0], path] + command.dropFirst())
                process.waitUntilExit()
                let text = String(decoding: try Data(contentsOf: error), as: UTF8.self)
                #expect(process.terminationStatus == 2, "\(command) \(path): \(text)")
                #expect(text.split(separator: "\n").count == 1)
                ToolProcess.cleanUp(output.path, error.path)
            }
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
        #expect(!FileManager.default.fileExists(atPath: missing))
    }

    @Test
    func `Damage is found and located`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.run("demo", "--people", "1000", "--store", store)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        bytes[20_000] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: store))
        let result = try ToolProcess.run("verify", store)
        #expect(result.status == 1 && result.output.contains("corrupt") && result.output.contains("byte"))
        // It is refused for writing, and not changed.
        let refused = try ToolProcess.run("compact", store)
        #expect(refused.status == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    }

    @Test
    func `A model that contradicts itself is refused with its line`() throws {
        let model = ToolProcess.temporaryPath("xcdatamodel"), store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(model, store) }
        let xml = """
            <?xml version="1.0"?>
            <model>
              <entity name="A">
                <attribute name="name" attributeType="String"/>
                <relationship name="b" optional="YES" maxCount="1" destinationEntity="Missing"/>
              </entity>
            </model>
            """
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try xml.write(toFile: model + "/contents", atomically: true, encoding: .utf8)
        let result = try ToolProcess.run("import", store, "--model", model, "--entity", "A", "--key", "name", ToolProcess.excerpt)
        #expect(result.status == 1 && result.error.contains("contents:5:") && result.error.contains("Missing"), "\(result.error)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    /// "-x" and "--" were once mistaken for files.
    @Test
    func `An argument that begins with a dash is an option unless two dashes precede it`() throws {
        let unknown = try ToolProcess.run("verify", "-x", "none.heartwood")
        #expect(unknown.status == 2 && unknown.error.contains("there is no option -x; `--help` says more"), "\(unknown.error)")
        let named = try ToolProcess.run("verify", "--", "--none.heartwood")
        #expect(named.status == 2 && named.error.contains("--none.heartwood: open failed"), "\(named.error)")
    }

    @Test
    func `A message ends once`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        let order = try ToolProcess.run("export", store, "--entity", "Package", "--sort", "nope")
        #expect(order.status == 2 && order.error.contains("no property of Package; it has architecture, ") && order.error.hasSuffix(", version; `--help` says more\n"), "\(order.error)")
        let predicate = try ToolProcess.run("export", store, "--entity", "Package", "--where", "size >")
        #expect(predicate.status == 2 && predicate.error.hasSuffix("^\n`--help` says more\n"), "\(predicate.error)")
    }
}
