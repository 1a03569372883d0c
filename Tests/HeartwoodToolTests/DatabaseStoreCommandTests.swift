import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

/// Stores in a PostgreSQL database, which URLs name.
@Suite(.enabled(if: PostgreSQLTestServer.isPresent, "There is no PostgreSQL server."))
struct DatabaseStoreCommandTests {
    /// The URL of a new schema; it is removed behind `body`.
    private func withURL(on other: PostgreSQLTestServer? = nil, _ body: (_ url: String, _ schema: String) throws -> Void) throws {
        let server = try other ?? PostgreSQLTestServer.shared.get(), schema = "tool-\(UUID().uuidString)"
        let folder = try #require(server.socketFolder, "a running server is named by HEARTWOOD_POSTGRESQL; these tests start one")
        defer { try? execute("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE", on: server) }
        try body("postgresql:///postgres?host=\(folder)&user=postgres&schema=\(schema)", schema)
    }

    private func execute(_ sql: String, on other: PostgreSQLTestServer? = nil) throws {
        let server = try other ?? PostgreSQLTestServer.shared.get()
        let connection = try PostgreSQLConnection(PostgreSQLConfiguration(server.connectionString))
        defer { connection.close() }
        try connection.execute(PostgreSQLStatement(sql, isPrepared: false))
    }

    private func run(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let result = try ToolProcess.runWords(words)
        #expect(result.status == 0, "\(words[0]): \(result.output)\(result.error)", sourceLocation: sourceLocation)
        return result.output
    }

    private func withExcerpt(
        on server: PostgreSQLTestServer? = nil, _ body: (_ store: String, _ url: String, _ schema: String) throws -> Void
    ) throws {
        let store = ToolProcess.temporaryPath()
        defer { ToolProcess.cleanUp(store) }
        try ToolProcess.importExcerpt(to: store)
        try withURL(on: server) { try body(store, $0, $1) }
    }

    @Test
    func `A record log is converted into a database and back, and all commands that read show the same`() throws {
        try withExcerpt { store, url, _ in
            let told = try run("convert", store, url)
            #expect(told.contains("Package  "), "\(told)")
            let new = ToolProcess.temporaryPath()
            defer { ToolProcess.cleanUp(new) }
            _ = try run("convert", url, "-o", new)
            for words in [
                ["export", "--all"], ["export", "--entity", "Package", "--sort", "name", "--format", "csv"], ["model", "--sql"],
                ["query", "Package", "--where", "installedSize > 100", "--sort", "name", "--limit", "5"],
                ["query", "Package", "--select", "section.name,sum:(size) AS total", "--group-by", "section.name", "--sort", "total:desc"],
                ["query", "Package", "--where", "ANY depends.name == 'libbark'", "--count"],
            ] {
                func shown(_ store: String) throws -> [Substring] {
                    let result = try ToolProcess.runWords([words[0], store] + words.dropFirst())
                    #expect(result.status == 0, "\(words): \(result.error)")
                    return result.output.split(separator: "\n").sorted()
                }
                #expect(try shown(url) == shown(store), "\(words)")
                #expect(try shown(new) == shown(store), "\(words)")
            }
            #expect(try run("verify", url).hasPrefix("sound: "))
            #expect(try run("verify", new).hasPrefix("sound: "))
            let inspected = try run("inspect", url)
            #expect(inspected.contains("server      PostgreSQL ") && inspected.contains("Package"), "\(inspected)")
            let json = try JSONSerialization.jsonObject(with: Data(try run("inspect", url, "--json").utf8)) as? [String: Any]
            #expect((json?["entities"] as? [Any])?.isEmpty == false)
            let again = try ToolProcess.run("convert", store, url)
            #expect(again.status == 1 && again.error.contains("has a store already"), "\(again.error)")
        }
    }

    @Test
    func `Objects are changed and deleted by a predicate, with validation and delete rules`() throws {
        try withExcerpt { store, url, _ in
            _ = try run("convert", store, url)
            let dry = try run("update", url, "Package", "--where", "size > \"20000\"", "--set", "size=1", "--set", "section=doc", "--dry-run")
            #expect(dry.contains("4 updated; a dry run, nothing is saved"), "\(dry)")
            #expect(try run("query", url, "Package", "--where", "size == 1", "--count") == "0\n")
            #expect(try run("update", url, "Package", "--where", "size > \"20000\"", "--set", "size=1", "--set", "section=doc").hasPrefix("4 updated\n"))
            #expect(try run("query", url, "Package", "--where", "section.name == 'doc' AND size == 1", "--count") == "4\n")
            for words in [["update", url, "Package", "--all", "--set", "name=null"], ["delete", url, "Section", "--where", "name == 'doc'"]] {
                let refused = try ToolProcess.runWords(words)
                #expect(refused.status == 1 && refused.error.contains("nothing is saved"), "\(words): \(refused.error)")
            }
            #expect(try run("delete", url, "Source", "--where", "name == 'lantern'").hasPrefix("1 deleted\ndeleted with them, by delete rules: 2 Package\n"))
            #expect(try run("query", url, "Package", "--count") == "4\n")
            #expect(try run("verify", url).hasPrefix("sound: "))
        }
    }

    @Test
    func `Records are imported into a new schema and into one that has a store, and a refused import leaves no schema`() throws {
        try withURL { url, schema in
            let missing = try ToolProcess.run("import", url, ToolProcess.excerpt)
            #expect(missing.status == 2 && missing.error.contains("--model is missing"), "\(missing.error)")
            let bad = ToolProcess.temporaryPath("jsonl")
            defer { ToolProcess.cleanUp(bad) }
            try "{\"name\": \"a\", \"installedSize\": \"none\"}\n".write(toFile: bad, atomically: true, encoding: .utf8)
            let refused = try ToolProcess.run("import", url, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", bad)
            #expect(refused.status != 0)
            #expect(try ToolProcess.run("inspect", url).error.contains("has no store"))
            _ = try run("import", url, "--model", ToolProcess.model, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
            let first = try run("export", url, "--entity", "Package", "--sort", "name")
            _ = try run("import", url, "--entity", "Package", "--key", "name", ToolProcess.excerpt)
            #expect(try run("export", url, "--entity", "Package", "--sort", "name") == first)
            #expect(first.split(separator: "\n").count > 5)
        }
    }

    @Test
    func `A store of Core Data's goes into a database, and an SQLite file comes out`() throws {
        try withURL { url, _ in
            let source = ToolProcess.root.appendingPathComponent("Tests/CoreDataStores/Goldens/dangling.sqlite").path
            let told = try run("convert", source, "-o", url)
            #expect(told.contains("5 references lead nowhere") && told.contains("is now also postgresql://"), "\(told)")
            let names = try run("export", url, "--entity", "Person", "--sort", "name")
            #expect(names.contains("\"name\":\"Ann\""), "\(names)")
            let file = ToolProcess.temporaryPath("sqlite")
            defer { ToolProcess.cleanUp(file) }
            _ = try run("export", url, "--format", "sqlite", "-o", file)
            #expect(try run("export", file, "--entity", "Person", "--sort", "name") == names)
        }
    }

    @Test
    func `A store in a database is migrated to another version of its model`() throws {
        let book = "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
        let old = try ModelCommandTests.write("<entity name=\"Book\">\(book)</entity>")
        let new = try ModelCommandTests.write(
            "<entity name=\"Book\">\(book)<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 32\"/></entity>")
        let lines = ToolProcess.temporaryPath("jsonl")
        defer { ToolProcess.cleanUp(old, new, lines) }
        try "{\"title\": \"Emma\"}\n".write(toFile: lines, atomically: true, encoding: .utf8)
        try withURL { url, _ in
            _ = try run("import", url, "--model", old, "--entity", "Book", "--key", "title", lines)
            #expect(try run("migrate", url, "--to", new, "--dry-run").contains("pages"))
            #expect(try run("migrate", url, "--to", new).contains("1 object has the version"))
            #expect(try run("migrate", url, "--to", new).contains("already"))
            #expect(try run("query", url, "Book", "--where", "pages == nil", "--count").contains("1"))
        }
    }

    @Test(arguments: [
        ["backup", "STORE", "/tmp/nowhere"], ["compact", "STORE"], ["log", "STORE"], ["diff", "STORE", "--from", "1"], ["salvage", "STORE", "-o", "new"], ["report", "STORE", "-o", "page.html"],
        ["promote", "STORE"], ["inspect", "STORE", "--commit", "1"], ["query", "STORE", "E", "--at", "1"],
    ])
    func `A command that cannot work on a database says so in one line`(_ words: [String]) throws {
        let url = "postgresql://someone:secret-word@nowhere.invalid/graph?schema=x"
        let refused = try ToolProcess.runWords(words.map { $0 == "STORE" ? url : $0 })
        #expect(refused.status == 2 && refused.error.split(separator: "\n").count == 1, "\(refused.error)")
        #expect(refused.error.contains("database") && !refused.error.contains("secret-word"), "\(refused.error)")
    }

    @Test(arguments: [
        "postgresql://someone:secret-word@127.0.0.1:1/graph", "postgres://someone@127.0.0.1:1/graph?password=secret-word",
        "postgresql://someone:secret-word@raw@127.0.0.1:1/graph", "postgresql://someone:12/secret-word@127.0.0.1/graph",
        "postgresql://someone:secret-word#@127.0.0.1:1/graph", "postgresql://someone:secret-word@127.0.0.1:port/graph",
        "postgresql://127.0.0.1:1/graph?sslpassword=secret-word",
    ])
    func `A password is in no message`(_ url: String) throws {
        for words in [
            ["inspect", url], ["query", url, "E"], ["verify", url], ["convert", url, "-o", "/tmp/new"], ["convert", "/tmp/missing", "--output=\(url)"],
            ["inspect", url, url], ["model", url], ["import", url, "/tmp/missing"],
        ] {
            let failed = try ToolProcess.runWords(words)
            #expect(failed.status != 0 && !failed.error.isEmpty)
            #expect(!(failed.error + failed.output).contains("secret-word"), "\(words[0]): \(failed.error)")
        }
    }

    @Test
    func `A password of a URL opens a store and is not shown`() throws {
        // A server of its own: other tests give the role other passwords.
        let server = try PostgreSQLTestServer()
        try withExcerpt(on: server) { store, url, schema in
            let user = PostgreSQLTestServer.userWithPassword
            _ = try run("convert", store, url)
            for statement in [
                "CREATE ROLE \(user) LOGIN PASSWORD 'a:b@c/d'", "GRANT USAGE ON SCHEMA \"\(schema)\" TO \(user)",
                "GRANT SELECT ON ALL TABLES IN SCHEMA \"\(schema)\" TO \(user)",
                "GRANT SELECT ON ALL SEQUENCES IN SCHEMA \"\(schema)\" TO \(user)",
            ] { try execute(statement, on: server) }
            let own = "postgresql://\(user):a%3Ab%40c%2Fd@/postgres?host=\(try #require(server.socketFolder))&schema=\(schema)"
            let shown = try run("inspect", own)
            #expect(shown.contains("Package") && !shown.contains("a%3Ab"), "\(shown)")
            #expect(try run("query", own, "Package", "--count") == run("query", store, "Package", "--count"))
            let refused = try ToolProcess.run("inspect", own.replacingOccurrences(of: "a%3Ab", with: "wrong"))
            #expect(refused.status == 1 && !refused.error.contains("wrong"), "\(refused.error)")
        }
    }

    @Test
    func `verify names the entity, the object and the property of what others wrote`() throws {
        try withExcerpt { store, url, schema in
            _ = try run("convert", store, url)
            for statement in [
                "ALTER TABLE \"\(schema)\".\"Package\" DROP CONSTRAINT \"Package_section_fkey\"",
                "UPDATE \"\(schema)\".\"Package\" SET section = 9999 WHERE _id = 1", "UPDATE \"\(schema)\".\"Package\" SET _e = 77 WHERE _id = 2",
            ] { try execute(statement) }
            let found = try ToolProcess.run("verify", url)
            #expect(found.status == 1, "\(found.output)\(found.error)")
            for text in [
                "the table Package lacks the check of the reference section", "entity Package, object p1, property section: it refers to Section p9999",
                "row 2 of Package: no entity", "remedy: ",
            ] { #expect(found.output.contains(text), "\(text): \(found.output)") }
        }
    }
}
