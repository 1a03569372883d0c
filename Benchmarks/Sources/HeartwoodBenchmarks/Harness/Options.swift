import Foundation

/// The command line.
struct Options {
    var sizes = [10_000, 100_000, 1_000_000]
    var isSmoke = false
    /// Compares the engine with SQLite's C API instead of managed objects with all peers.
    var isEngine = false
    /// Compares queries and batch requests with the same SQL.
    var isQueries = false
    /// Measures a file of Core Data's, read in place and converted.
    var isStores = false
    /// Compares text search with SQLite's.
    var isSearches = false
    /// Measures durable saves of several contexts at once.
    var isContexts = false
    /// Measures backups and restores.
    var isBackup = false
    /// Compares SwiftData's models with managed objects and with records.
    var isSwiftData = false
    /// How long a writer is followed.
    var minutes = 1.0
    /// The path of the Debian graph as JSON lines.
    var packages = "../shared/data/debian-packages.jsonl"
    var only: String?
    /// Part of a peer's name, to profile that peer.
    var peer: String?
    private var repeats: Int?
    var markdown: String?
    var json: String?
    var svg: String?

    static let usage = """
        USAGE: heartwood-benchmarks [--rows 10000,100000,1000000] [--smoke] [--engine | --queries | --stores | --searches | --contexts | --backup |
                                     --swiftdata]
                                    [--minutes N] [--only WORKLOAD] [--peer NAME] [--packages FILE] [--repeat N] [--markdown FILE] [--json FILE] [--svg FILE]
        """

    init(_ words: [String]) throws {
        var words = words[...]
        func value() throws -> String {
            guard let value = words.popFirst() else { throw PeerError(description: Self.usage) }
            return value
        }
        while let word = words.popFirst() {
            switch word {
            case "--smoke":
                isSmoke = true
                minutes = 0.1
                sizes = [10_000]
            case "--engine": isEngine = true
            case "--queries": isQueries = true
            case "--stores": isStores = true
            case "--searches":
                isSearches = true
                if sizes.count == 3 { sizes = [1_000_000] }
            case "--contexts":
                isContexts = true
                if sizes.count == 3 { sizes = [100_000] }
            case "--backup": isBackup = true
            case "--swiftdata":
                isSwiftData = true
                if sizes.count == 3 { sizes = [100_000, 1_000_000] }
            case "--minutes":
                guard let number = Double(try value()), number > 0, number <= 1440 else { throw PeerError(description: Self.usage) }
                minutes = number
            case "--packages": packages = try value()
            case "--rows":
                sizes = try value().split(separator: ",").map { text in
                    guard let number = Int(text), number >= 1000 else { throw PeerError(description: Self.usage) }
                    return number
                }
            case "--only": only = try value()
            case "--peer": peer = try value()
            case "--repeat": repeats = Int(try value())
            case "--markdown": markdown = try value()
            case "--json": json = try value()
            case "--svg": svg = try value()
            default: throw PeerError(description: Self.usage)
            }
        }
    }

    /// More repetitions for short runs.
    func repetitions(_ rows: Int) -> Int { repeats ?? (isSmoke ? 1 : rows >= 1_000_000 ? 3 : 5) }
}
