import Foundation
import HeartwoodPostgreSQLClient
import HeartwoodPostgreSQLTestSupport
import Testing

@Suite(.enabled(if: PostgreSQLLibrary.fault == nil, "\(PostgreSQLLibrary.fault?.message ?? "")"))
struct ConnectionStringTests {
    /// No string leads to a server. Each has a password of these words.
    private static let words = ["Zebra", "Quokka", "Narwhal"]
    private static let strings = [
        "postgresql://user:Zebra@localhost:1/base",
        "postgresql://user:Zebra@Quokka@localhost:1/base",
        "postgresql://user:Zebra/Quokka@localhost:1/base",
        "postgresql://user:Zebra?Quokka@localhost:1/base",
        "postgresql://user:Zebra?Quokka=Narwhal@localhost:1/base",
        "postgresql://user:Zebra#Quokka@localhost:1/base",
        "postgresql://user:Zebra:Quokka@localhost:1/base",
        "postgresql://user:Zebra%Quokka@localhost:1/base",
        "postgresql://user:Zebra%40Quokka%2FNarwhal@localhost:1/base",
        "postgresql://user:Zebra[Quokka]@localhost:1/base",
        "postgresql://user:Zebra@[Quokka@localhost:1/base",
        "postgresql://localhost:1/base?password=Zebra&passwort=Quokka",
        "postgresql://localhost:1/base?password=Zebra%zzQuokka",
        "postgresql://localhost:1/base?user=a&password=Zebra&Quokka",
        "postgres://user:1234Zebra/5678@localhost:1/Quokka",
        "host=localhost port=1 password=Zebra user=u",
        "host=localhost port=1 password=Zebra Quokka user=u",
        "host=localhost port=1 password=Zebra Quokka=Narwhal user=u",
        "host=localhost port=1 password='Zebra Quokka' user=u",
        "host=localhost port=1 password='Zebra Quokka user=u",
        "host=localhost port=1 password='Zebra\\'Quokka\\\\Narwhal' user=u",
        "host=localhost port=1 password='Zebra'Quokka' user=u",
        "host=localhost port=Zebra password=Quokka",
        "pass word=Zebra host=localhost port=1",
        "password = 'Zebra' = Quokka",
        "host=localhost port=1 password=Zebra sslmode=no_such_mode",
        "host=localhost port=1 password=Zebra sslpassword=Quokka sslcert=/nowhere sslkey=/nowhere sslmode=require",
        "postgresql:/user:Zebra@localhost:1/base",
        "postgresql//user:Zebra@localhost:1/base",
        "user:Zebra@localhost:1/base",
        "Postgres://user:Zebra@localhost:1/base?a=Quokka",
        "jdbc:postgresql://localhost:1/base?user=u&password=Zebra",
        "host=localhost port=1 password=Zebra\0Quokka",
    ]

    @Test(arguments: strings)
    func `No part of a password is in an error`(_ string: String) throws {
        let error = try failure { _ = try PostgreSQLConnection(PostgreSQLConfiguration(string)) }
        #expect(error.kind == .badConnectionString || error.kind == .cannotConnect)
        var dumped = ""
        dump(error, to: &dumped)
        for text in [error.description, error.message, "\(error as any Error)", error.localizedDescription, dumped] {
            for word in Self.words { #expect(!text.contains(word), "\(text)") }
        }
    }

    @Test
    func `No description of a configuration or of a pool has the connection string`() {
        let configuration = PostgreSQLConfiguration("postgresql://user:Zebra@localhost/base")
        let pool = PostgreSQLPool(configuration)
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(pool, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), "\(pool)", String(reflecting: pool), dumped] {
            #expect(!text.contains("Zebra"))
        }
    }

    @Test
    func `A string that cannot be read is told from a server that is not there`() throws {
        func kind(_ string: String) throws -> PostgreSQLError.Kind {
            try failure { _ = try PostgreSQLConnection(PostgreSQLConfiguration(string)) }.kind
        }
        #expect(try kind("host=localhost port=1") == .cannotConnect)
        #expect(try kind("postgresql://localhost:1/base") == .cannotConnect)
        #expect(try kind("host=localhost port=one") == .badConnectionString)
        #expect(try kind("no_such_word=1 host=localhost") == .badConnectionString)
        #expect(try kind("postgresql://user@host@host/base") == .badConnectionString)
    }
}

@Suite(.withPrivateServer)
struct PasswordTests {
    @Test
    func `A password that is right connects, and one that is wrong is in no error and in no line of the server`() throws {
        let server = try PostgreSQLTestServer.shared.get(), user = PostgreSQLTestServer.userWithPassword
        try connect().execute(PostgreSQLStatement("CREATE ROLE \(user) LOGIN PASSWORD 'Zebra''s / word'"))
        let base = server.connectionString + " user=\(user) password="
        #expect(try connect(base + "'Zebra\\'s / word'").execute("SELECT current_user").text(0, 0) == user)
        let folder = try #require(server.socketFolder?.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        #expect(try connect("postgresql://\(user):Zebra%27s%20%2F%20word@\(folder)/postgres").execute("SELECT 1").count == 1)
        let error = try failure { _ = try connect(base + "Quokka") }
        #expect(error.kind == .cannotConnect && error.message.contains("password authentication failed"))
        #expect(!error.description.contains("Quokka"))
        let log = server.log
        #expect(!log.contains("Quokka") && !log.contains("Zebra"))
    }
}

@Suite
struct LibraryTests {
    @Test
    func `Without libpq the error names the files and the package`() throws {
        let error = try failure { try PostgreSQLLibrary.find(["libpq-that-is-nowhere.so.5"]) }
        #expect(error.kind == .noLibrary)
        #expect(error.message.contains("libpq-that-is-nowhere.so.5"))
        #expect(error.message.contains("libpq") && error.message.contains("package"))
    }

    @Test
    func `A library without libpq's functions is refused`() throws {
        #if canImport(Glibc)
            let error = try failure { try PostgreSQLLibrary.find(["libc.so.6"]) }
            #expect(error.kind == .noLibrary && error.message.contains("PQ"))
        #endif
    }
}
