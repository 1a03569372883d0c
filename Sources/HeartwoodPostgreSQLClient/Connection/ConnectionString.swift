internal import Foundation

/// Checks a connection string before libpq connects by it. libpq's own messages cite parts of it, which may be parts of a password.
struct ConnectionString {
    private let library: LibPQ
    private let text: String

    init(_ library: LibPQ, _ text: String) {
        self.library = library
        self.text = text
    }

    /// What no message may contain.
    struct Secrets {
        var list: [String] = []

        func hidden(in message: String) -> String {
            list.sorted { $0.count > $1.count }.reduce(message) { $0.replacingOccurrences(of: $1, with: "…") }
        }
    }

    private var isURL: Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

    /// - Returns: the secrets of the string, and those of the environment.
    /// - Throws: `badConnectionString`, which cites nothing of the string.
    func check() throws(PostgreSQLError) -> Secrets {
        var secrets = Secrets()
        if let password = ProcessInfo.processInfo.environment["PGPASSWORD"], !password.isEmpty { secrets.list.append(password) }
        guard !text.utf8.contains(0) else { throw Self.fault("it contains U+0000") }
        // Without either form, it is the name of a database.
        guard isURL || text.contains("=") else { return secrets }
        if isURL { try checkURL() }
        guard let options = library.parseOptions(text, nil) else { throw Self.fault(isURL ? Self.urlRemedy : Self.wordsRemedy) }
        defer { library.freeOptions(options) }
        var option = options.assumingMemoryBound(to: LibPQOption.self)
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.value.map({ String(cString: $0) }), !value.isEmpty else { continue }
            let isSecret = option.pointee.display.map { String(cString: $0) } == "*"
            if isSecret { secrets.list.append(value) }
            if String(cString: keyword) == "port" { try Self.checkPort(value) }
        }
        return secrets
    }

    private static let urlRemedy =
        "a URL is postgresql://user:password@host:port/database?word=value, where signs such as @ : / ? # % in a part are percent-encoded"
    private static let wordsRemedy = "it is made of word=value pairs, where a value with spaces is in single quotes, and ' and \\ have a \\ before them"

    /// A password with such signs would make parts of it the host or the database, which messages name.
    private func checkURL() throws(PostgreSQLError) {
        let body = text.components(separatedBy: "://").dropFirst().joined(separator: "://").prefix { $0 != "?" }
        let behind = body.split(separator: "@", omittingEmptySubsequences: false).dropFirst()
        guard behind.count <= 1 else { throw Self.fault(Self.urlRemedy) }
        if let slash = body.firstIndex(of: "/"), let at = body.firstIndex(of: "@"), slash < at { throw Self.fault(Self.urlRemedy) }
    }

    private static func checkPort(_ value: String) throws(PostgreSQLError) {
        guard value.utf8.allSatisfy({ $0 == UInt8(ascii: ",") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw fault("its port is no number. A sign such as / or # in a URL's password is percent-encoded")
        }
    }

    private static func fault(_ reason: String) -> PostgreSQLError {
        PostgreSQLError(.badConnectionString, "The connection string of the PostgreSQL store cannot be read: \(reason).")
    }
}
