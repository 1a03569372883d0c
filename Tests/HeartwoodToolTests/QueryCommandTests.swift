import Foundation
import Testing

@Suite struct QueryCommandTests {
    /// Imports the six packages of the excerpt, one of which has no record of its own.
    private func stored(_ body: (String) throws -> Void) throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        try body(store)
    }

    @Test
    func `A table is aligned`() throws {
        try stored { store in
            let some = try ToolProcess.run("query", store, "Package", "--select", "name,section.name,size,depends.@count", "--sort", "name")
            #expect(some.status == 0, "\(some.error)")
            #expect(some.output == """
                name         section.name     size  depends.@count
                -----------  ------------  -------  --------------
                lantern      utils           96210               2
                lantern-doc  doc             20144               0
                libbark      libs           402311               1
                libroot2     libs          2801000               0
                sapling      utils            5120               2
                seedbank                                         0

                """)
            let wide = try ToolProcess.run(
                "query", store, "Package", "--select", "summary,name", "--where", "name LIKE 'lantern*'", "--sort", "name")
            #expect(wide.output == """
                summary                                           name
                ------------------------------------------------  -----------
                sheds light on log files                          lantern
                Handbuch für lantern (deutsch, français, 日本語)  lantern-doc

                """)
            let cut = try ToolProcess.run(
                "query", store, "Package", "--select", "summary,name", "--where", "name LIKE 'lantern*'", "--sort", "name", "--width", "30")
            #expect(cut.output == """
                summary            name
                -----------------  -----------
                sheds light on l…  lantern
                Handbuch für lan…  lantern-doc

                """)
        }
    }

    @Test
    func `Groups can be requested on the command line`() throws {
        try stored { store in
            let groups = try ToolProcess.run(
                "query", store, "Package", "--select", "section.name,sum:(size) AS total,count(name)", "--group-by", "section.name",
                "--having", "$total > 20000 AND section.name != nil", "--sort", "total:desc", "--format", "csv")
            #expect(groups.status == 0, "\(groups.error)")
            #expect(groups.output == "section.name,total,count(name)\nlibs,3203311,2\nutils,101330,2\ndoc,20144,1\n")
            let all = try ToolProcess.run("query", store, "Package", "--select", "@count,average:(size),max:(name)", "--format", "jsonl")
            #expect(all.output == "{\"@count\":6,\"average:(size)\":664957,\"max:(name)\":\"seedbank\"}\n")
            let keys = try ToolProcess.run("query", store, "Package", "--group-by", "section.name", "--sort", "section.name", "--format", "csv")
            #expect(keys.output == "section.name\n\ndoc\nlibs\nutils\n")
        }
    }

    @Test
    func `Every format is written completely`() throws {
        try stored { store in
            func query(_ format: String, _ condition: String = "name BEGINSWITH 's'") throws -> String {
                try ToolProcess.run("query", store, "Package", "--select", "name,summary,size,section", "--where", condition, "--sort", "-name", "--format", format).output
            }
            let uri = try #require(try query("csv").split(separator: "\n").last?.split(separator: ",").last)
            #expect(uri.hasPrefix("x-coredata://") && uri.contains("/Section/p"))
            #expect(try query("csv") == "name,summary,size,section\nseedbank,,,\nsapling,\"grows a \"\"tree\"\" of files\",5120,\(uri)\n")
            let sapling = "{\"name\":\"sapling\",\"section\":\"\(uri)\",\"size\":5120,\"summary\":\"grows a \\\"tree\\\" of files\"}"
            #expect(try query("jsonl") == "{\"name\":\"seedbank\"}\n\(sapling)\n")
            #expect(try query("json") == "[\n{\"name\":\"seedbank\"},\n\(sapling)\n]\n")
            #expect(try query("json", "size < 0") == "[]\n")
            #expect(try query("csv", "size < 0") == "name,summary,size,section\n")
            // Without a selection, all attributes.
            let all = try ToolProcess.run("query", store, "Section", "--sort", "name", "--offset", "1", "--limit", "1")
            #expect(all.output == "name\n----\nlibs\n")
        }
    }

    @Test
    func `A query is counted and explained`() throws {
        try stored { store in
            #expect(try ToolProcess.run("query", store, "Package", "--where", "size > 20000", "--count").output == "4\n")
            #expect(try ToolProcess.run("query", store, "Package", "--group-by", "section.name", "--count").output == "4\n")
            let found = try ToolProcess.run("query", store, "Package", "--where", "name = 'libbark'", "--explain").output
            #expect(found.hasPrefix("Package: index unique:name\n") && found.hasSuffix("1 row visited, 1 matched\n"), "\(found)")
            #expect(try ToolProcess.run(
                "query", store, "Package", "--where", "size > 20000", "--explain").output == "Package: scan\n6 rows visited, 4 matched\n")
        }
    }

    @Test
    func `An error is shown with its position`() throws {
        try stored { store in
            let cases: [(arguments: [String], says: String)] = [
                (["--where", "name = = 3"], "    name = = 3\n           ^"), (["--select", "sum:(size"], "    sum:(size\n             ^"),
                (["--select", "name,colour"], "Package has no property \"colour\""), (["--select", "sum:(colour)"], "    sum:(colour)\n         ^"),
                (["--sort", "colour"], "cannot be sorted by \"colour\""), (["--select", "depends"], "depends.@count"),
                (["--having", "size > 1"], "--having needs --group-by"), (["--format", "xml"], "not \"xml\""),
                (["--count", "--explain"], "exclude"),
                (["--select", "name,@count", "--group-by", "section"], "\"name\" is not in propertiesToGroupBy"),
                (["--limit", "few"], "whole number"), (["--colour"], "no option --colour"),
            ]
            for (arguments, says) in cases {
                let (process, output, error) = try ToolProcess.start(["query", store, "Package"] + arguments)
                process.waitUntilExit()
                defer { ToolProcess.cleanUp(output.path, error.path) }
                let text = try String(contentsOf: error, encoding: .utf8)
                #expect(process.terminationStatus == 2 && text.contains(says), "\(arguments): \(text)")
                #expect(try Data(contentsOf: output).isEmpty, "\(arguments)")
            }
            #expect(try ToolProcess.run("query", store, "Colour").error.contains("there is no entity \"Colour\""))
            #expect(try ToolProcess.run("query", store).status == 2)
        }
    }

    @Test
    func `Text is sorted in the requested order`() throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        let lines = ["b10", "B9", "a", "B10", "b9"].map { "{\"name\": \"\($0)\"}\n" }.joined()
        let made = try ToolProcess.run("import", store, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", "-", input: lines)
        #expect(made.status == 0, "\(made.error)")
        for (sort, names) in [
            ("name", "B10 B9 a b10 b9"), ("-name", "b9 b10 a B9 B10"), ("name:caseInsensitive,name:desc", "a b10 B10 b9 B9"),
            ("name:localizedStandard:asc", "a b9 B9 b10 B10"),
            ("-name:localizedStandard", "B10 b10 B9 b9 a"), ("name:localized", "a b10 B10 b9 B9"),
        ] {
            let found = try ToolProcess.run("query", store, "Package", "--select", "name", "--sort", sort, "--format", "csv")
            #expect(found.output.split(separator: "\n").dropFirst().joined(separator: " ") == names, "\(sort) \(found.error)")
        }
        let plan = try ToolProcess.run("query", store, "Package", "--sort", "name:localized", "--explain").output
        #expect(plan.contains("scan") && !plan.contains("in memory"), "\(plan)")
        #expect(try ToolProcess.run("query", store, "Package", "--sort", "size:localized").status == 2)
    }

    @Test
    func `An empty text differs from null in CSV`() throws {
        let store = ToolProcess.temporaryPath(), copy = ToolProcess.temporaryPath(), file = ToolProcess.temporaryPath("csv")
        defer { ToolProcess.cleanUp(store, copy, file) }
        let lines = "{\"name\": \"a\", \"summary\": \"\"}\n{\"name\": \"b\", \"summary\": \"\\\"\\u0301\"}\n{\"name\": \"c\"}\n{\"name\": \"d\", \"summary\": \"x\\r\\ny\\u0007\"}\n"
        for (path, source, input) in [(store, "-", lines), (copy, file, "")] {
            let made = try ToolProcess.run(
                "import", path, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", "--format", source == "-" ? "jsonl" : "csv",
                source,
                input: input)
            #expect(made.status == 0, "\(made.error)")
            let found = try ToolProcess.run(
                "query", path, "Package", "--select", "name,summary", "--sort", "name", "--limit", "3", "--format", "csv").output
            #expect(found == "name,summary\na,\"\"\nb,\"\"\"\u{301}\"\nc,\n")
            try ToolProcess.run("export", store, "--entity", "Package", "--sort", "name", "--limit", "3", "--format", "csv").output
                .write(toFile: file, atomically: true, encoding: .utf8)
        }
        let table = try ToolProcess.run("query", store, "Package", "--select", "summary,name", "--where", "name = 'd'").output
        #expect(table == "summary  name\n-------  ----\nx␍␊y␇    d\n")
    }
}
