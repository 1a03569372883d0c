import Foundation
import Testing

@Suite struct ModelCommandTests {
    static func write(_ body: String) throws -> String {
        let path = ToolProcess.temporaryPath("xcdatamodel")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data("<?xml version=\"1.0\"?>\n<model>\(body)</model>".utf8).write(to: URL(fileURLWithPath: path + "/contents"))
        return path
    }

    private static let library = """
        <entity name="Being" isAbstract="YES"><attribute name="name" attributeType="String"/></entity>
        <entity name="Author" parentEntity="Being" elementID="Writer">
          <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
        </entity>
        <entity name="Book">
          <attribute name="title" optional="YES" attributeType="String"/>
          <attribute name="pages" optional="YES" attributeType="Integer 16" defaultValueString="1" minValueString="1"/>
          <relationship name="author" maxCount="1" deletionRule="Deny" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
          <relationship name="sequel" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Book"/>
          <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        """

    @Test
    func `A model is shown as a table with warnings`() throws {
        let path = try Self.write(Self.library)
        defer { ToolProcess.cleanUp(path) }
        let shown = try ToolProcess.run("model", path)
        #expect(shown.status == 0, "\(shown.error)")
        for line in [
            "3 entities, 3 attributes, 3 relationships", "Being (abstract)", "Author (inherits from Being, was Writer)",
            "books  -> Book 0..*  inverse author, nullify",
            "default 1, SELF >= 1", "-> Author 1", "  unique title",
            "Book.sequel: has no inverse",
            "Author.books: nullifies Book.author, which is required",
        ] {
            #expect(shown.output.contains(line), "\(line) in:\n\(shown.output)")
        }
        #expect(!shown.output.contains("Being.name:"), "a required attribute without a default is ordinary")
    }

    @Test
    func `The tool warns of odd parts of a file`() throws {
        let path = try Self.write("""
            <entity name="A"><attribute name="id" optional="YES" attributeType="UUID" defaultValueString="none"/>
            <attribute name="sum" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="bs.@count"/>
            <relationship name="bs" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>
            <entity name="B"><relationship name="a" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="A" inverseName="bs" inverseEntity="A"/></entity>
            """)
        defer { ToolProcess.cleanUp(path) }
        let shown = try ToolProcess.run("model", path)
        #expect(shown.status == 0 && shown.output.contains("A.id: has the default value \"none\", which does not fit its type"), "\(shown.output)")
        #expect(shown.output.contains("1 warning\n") && !shown.output.contains("A.sum: is derived"), "\(shown.output)")
    }

    @Test
    func `Models are compiled`() throws {
        let folder = ToolProcess.temporaryPath("folder"), model = folder + "/M.xcdatamodeld"
        defer { ToolProcess.cleanUp(folder) }
        try FileManager.default.createDirectory(atPath: model + "/M.xcdatamodel", withIntermediateDirectories: true)
        try Data("<model><entity name=\"A\"/></model>".utf8).write(to: URL(fileURLWithPath: model + "/M.xcdatamodel/contents"))
        let made = try ToolProcess.run("compile", model, "-o", folder + "/out")
        #expect(made.status == 0 && made.output == "\(folder)/out/M.momd\n", "\(made.error)")
        #expect(try ToolProcess.run("model", folder + "/out/M.momd").output.contains("1 entity,"))
        let info = try String(contentsOfFile: folder + "/out/M.momd/VersionInfo.plist", encoding: .utf8)
        #expect(info.contains("<key>M</key><dict><key>A</key><data>"), "\(info)")
        #expect(try ToolProcess.run("compile", folder, "-o", folder + "/out").status == 2)
    }

    @Test
    func `Cycles of deny rules are found`() throws {
        func deny(_ name: String, _ to: String, _ inverse: String, optional: Bool = false, rule: String = "Deny") -> String {
            "<relationship name=\"\(name)\" \(optional ? "optional=\"YES\"" : "") maxCount=\"1\" deletionRule=\"\(rule)\" destinationEntity=\"\(to)\" "
                + "inverseName=\"\(inverse)\" inverseEntity=\"\(to)\"/>"
        }
        func back(_ name: String, _ to: String, _ inverse: String) -> String { deny(name, to, inverse, optional: true, rule: "No Action") }
        let path = try Self.write("""
            <entity name="A">\(deny("b", "B", "a"))\(back("c", "C", "a"))</entity><entity name="B">\(deny("c", "C", "b"))\(back("a", "A", "b"))</entity>
            <entity name="C">\(deny("a", "A", "c"))\(back("b", "B", "c"))</entity>
            <entity name="D">\(deny("e", "E", "d", optional: true))</entity><entity name="E">\(deny("d", "D", "e", optional: true))</entity>
            """)
        defer { ToolProcess.cleanUp(path) }
        let shown = try ToolProcess.run("model", path).output
        #expect(shown.contains("A.b: denies in a ring (A.b, B.c, C.a), each required: none of them can ever be deleted"), "\(shown)")
        #expect(shown.components(separatedBy: "in a ring").count == 2, "once")
        #expect(shown.contains("D.e: denies, and so does its inverse E.d") && shown.contains("A.c: does nothing when a A is deleted"))
    }

    @Test
    func `A model is drawn`() throws {
        let path = try Self.write(Self.library), svg = ToolProcess.temporaryPath("svg"), mermaid = ToolProcess.temporaryPath("mmd")
        defer { ToolProcess.cleanUp(path, svg, mermaid) }
        #expect(try ToolProcess.run("model", path, "--svg", svg, "--mermaid", mermaid).status == 0)
        let drawn = try String(contentsOfFile: svg, encoding: .utf8)
        for part in [
            "<svg xmlns", ">Author</text>", ">title</text>", ">String</text>", ">name*</text>", ">books</text>", ">0..*</text>", "hw-is", "</svg>"]
        {
            #expect(drawn.contains(part), "\(part)")
        }
        #expect(drawn.components(separatedBy: "<rect ").count == 5, "a ground and three boxes")
        let text = try String(contentsOfFile: mermaid, encoding: .utf8)
        for line in [
            "classDiagram", "    class Book {", "        String name*", "    Being <|-- Author", "Author \"1\" -- \"0..*\" Book : books / author"]
        {
            #expect(text.contains(line), "\(line) in:\n\(text)")
        }
        #expect(try ToolProcess.run("model", path, "--format", "svg").output == drawn)
        let json = try ToolProcess.run("model", path, "--format", "json").output
        let parsed = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        #expect((parsed?["entities"] as? [[String: Any]])?.count == 3)
        #expect(try ToolProcess.run("model", path, "--format", "poem").status == 2)
    }

    @Test
    func `A drawing takes the permissions of the file that it replaces, and replaces only files`() throws {
        let path = try Self.write(Self.library), svg = ToolProcess.temporaryPath("svg"), pipe = ToolProcess.temporaryPath("pipe")
        let link = ToolProcess.temporaryPath("link")
        defer { ToolProcess.cleanUp(path, svg, pipe, link) }
        let files = FileManager.default
        func attribute(_ path: String, _ key: FileAttributeKey) throws -> Int? {
            (try files.attributesOfItem(atPath: path)[key] as? NSNumber)?.intValue
        }
        try Data("old".utf8).write(to: URL(fileURLWithPath: svg))
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: svg)
        if geteuid() == 0 {
            try files.setAttributes([.ownerAccountID: 4711, .groupOwnerAccountID: 4712], ofItemAtPath: svg)
        } else {
            print("Not root: owners are not tested, only permissions.")
        }
        let owner = try attribute(svg, .ownerAccountID), group = try attribute(svg, .groupOwnerAccountID)
        try files.createSymbolicLink(atPath: link, withDestinationPath: svg)
        #expect(try ToolProcess.run("model", path, "--svg", link).status == 0)
        #expect(try String(contentsOfFile: svg, encoding: .utf8).contains("<svg xmlns"))
        #expect(try attribute(svg, .posixPermissions) == 0o600)
        #expect(try attribute(svg, .ownerAccountID) == owner && attribute(svg, .groupOwnerAccountID) == group)
        try #require(mkfifo(pipe, 0o600) == 0)
        let refused = try ToolProcess.run("model", path, "--svg", pipe)
        #expect(refused.status == 1 && refused.error.contains(pipe), "\(refused.error)")
        #expect(try files.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType != .typeRegular)
    }

    @Test
    func `No two boxes overlap`() throws {
        let shared = ToolProcess.root.deletingLastPathComponent().appendingPathComponent("shared/models")
        var paths = [ToolProcess.model]
        for case let path as String in FileManager.default.enumerator(atPath: shared.path) ?? FileManager.DirectoryEnumerator()
        where path.hasSuffix(".xcdatamodeld") { paths.append(shared.appendingPathComponent(path).path) }
        for path in paths {
            let drawn = try ToolProcess.run("model", path, "--format", "svg").output
            let boxes = drawn.components(separatedBy: "<rect x=\"").dropFirst().map { part in
                part.components(separatedBy: "\"").enumerated().filter { [0, 2, 4, 6].contains($0.offset) }.compactMap { Double($0.element) }
            }
            #expect(!boxes.isEmpty)
            for (index, a) in boxes.enumerated() {
                for b in boxes.dropFirst(index + 1) {
                    #expect(a[0] + a[2] <= b[0] || b[0] + b[2] <= a[0] || a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1], "\(path): \(a) \(b)")
                }
            }
        }
    }

    @Test
    func `The tool shows a store's model`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        #expect(try ToolProcess.run("demo", "--people", "1000", "--store", store).status == 0)
        let shown = try ToolProcess.run("model", store)
        #expect(shown.status == 0 && shown.output.contains("Contact") && shown.output.contains("unique email"), "\(shown.output)\(shown.error)")
        #expect(try ToolProcess.run("model", "diff", store, store).output.contains("the same"))
    }

    @Test
    func `Differences are listed with the gaps of a migration`() throws {
        let old = try Self.write(Self.library)
        let change = { (pairs: [(String, String)]) in
            try Self.write(pairs.reduce(Self.library) { $0.replacingOccurrences(of: $1.0, with: $1.1) })
        }
        let fine = try change([
            ("<attribute name=\"title\" ", "<attribute name=\"heading\" elementID=\"title\" "), ("value=\"title\"", "value=\"heading\""),
            ("name=\"pages\" optional=\"YES\"", "name=\"pages\""),
            (
                "<attribute name=\"name\" attributeType=\"String\"/>",
                "<attribute name=\"name\" attributeType=\"String\"/><attribute name=\"born\" optional=\"YES\" attributeType=\"Date\"/>"),
        ])
        let broken = try change([
            ("name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"1\"", "name=\"pages\" attributeType=\"Date\""),
            ("<attribute name=\"title\"", "<attribute name=\"isbn\" attributeType=\"String\"/><attribute name=\"title\""),
            ("toMany=\"YES\"", "maxCount=\"1\""),
        ])
        let harmless = try change([("defaultValueString=\"1\"", "defaultValueString=\"2\"")])
        defer { ToolProcess.cleanUp(old, fine, broken, harmless) }
        let first = try ToolProcess.run("model", "diff", old, fine)
        for line in [
            "~ Book.heading  renamed, was title", "~ Book.pages    required, was optional", "+ Being.born    attribute added, Date",
            "A migration can be inferred."]
        {
            #expect(first.output.contains(line), "\(line) in:\n\(first.output)")
        }
        #expect(first.status == 0)
        let second = try ToolProcess.run("model", "diff", old, broken)
        for line in [
            "No migration can be inferred:", "Book.pages: Integer 16 does not become Date by itself", "Book.pages: it has no default",
            "Book.isbn: it is required, and without a default", "Author.books: no rule says which of several members is kept",
        ] {
            #expect(second.output.contains(line), "\(line) in:\n\(second.output)")
        }
        #expect(second.status == 1)
        let third = try ToolProcess.run("model", "diff", old, harmless)
        #expect(third.status == 0 && third.output.contains("default 2, was 1") && third.output.contains("open with the other unchanged"))
        #expect(try ToolProcess.run("model", "diff", old).status == 2)
        // Earlier versions took the options of the other form and ignored them.
        let drawn = old + ".svg"
        let fourth = try ToolProcess.run("model", "diff", old, fine, "--svg", drawn, "--sql")
        #expect(fourth.status == first.status && fourth.output == first.output)
        #expect(fourth.error == "heartwood: warning: model diff does not use --svg\nheartwood: warning: model diff does not use --sql\n")
        #expect(!FileManager.default.fileExists(atPath: drawn))
        #expect(try ToolProcess.run("model", "diff", old, fine, "--flag").status == 2)
        let absent = try ToolProcess.run("model", "/nowhere.mom")
        #expect(absent.status == 2 && absent.error.contains("/nowhere.mom"))
    }
}
