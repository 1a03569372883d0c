internal import Foundation

extension LibPQ {
    /// The library of this machine. The first use looks for it.
    static let loaded = Result { () throws(PostgreSQLError) in try load(names) }

    #if canImport(Darwin)
        // Homebrew's libpq is outside of the loader's folders.
        static let names = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
            "/opt/homebrew/lib/postgresql/libpq.5.dylib", "/Applications/Postgres.app/Contents/Versions/latest/lib/libpq.5.dylib",
        ]
        private static let remedy = "Homebrew's package is libpq (brew install libpq)."
    #elseif canImport(WinSDK)
        static let names = ["libpq.dll"]
        private static let remedy = "PostgreSQL's installer brings libpq.dll; its folder bin must be in PATH."
    #elseif canImport(Android)
        static let names = ["libpq.so", "libpq.so.5"]
        private static let remedy = "Put libpq.so among the libraries of the app."
    #elseif canImport(Musl)
        static let names = ["libpq.so.5"]
        private static let remedy = "Alpine's package is libpq (apk add libpq); a program that is linked statically cannot load it."
    #else
        static let names = ["libpq.so.5"]
        private static let remedy = "Debian's and Ubuntu's package is libpq5 (apt-get install libpq5), Fedora's is libpq (dnf install libpq)."
    #endif

    /// - Throws: `noLibrary` with the names that were tried and the package to install.
    static func load(_ names: [String]) throws(PostgreSQLError) -> LibPQ {
        for name in names {
            if let library = SharedLibrary(name) { return try LibPQ(library) }
        }
        throw PostgreSQLError(
            .noLibrary, "This machine has no libpq, the client library of PostgreSQL (looked for \(names.joined(separator: ", "))). \(remedy)")
    }
}
