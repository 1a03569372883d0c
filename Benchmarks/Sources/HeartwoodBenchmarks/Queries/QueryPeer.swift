import Foundation

/// A store that is asked queries. Each call is one timed block and gives a checksum that must be equal between peers; nil where
/// the query is not asked of the peer.
protocol QueryPeer: AnyObject, SendableMetatype {
    static var name: String { get }
    /// - Parameter directory: where the stores lie; peers of one engine find each other's.
    init(directory: URL, generator: PersonGenerator) throws

    /// Loads persons, phrases and packages, where no other peer has.
    func fill(phrases: [String], packages: [PackageData]) throws
    func open() throws
    func close() throws
    /// Forgets what earlier queries have left in memory.
    func forget()

    func byEmail(_ emails: [String]) throws -> UInt64?
    /// From each birthday on, the next hundred in order.
    func ranges(_ birthdays: [Double]) throws -> UInt64?
    /// How many are older than 40 and have "tree" in their note.
    func count() throws -> UInt64?
    /// How many phrases contain a word, whatever the case and the diacritics (SQLite's LIKE: the case of ASCII letters).
    func phrases(with word: String) throws -> UInt64?
    /// The hundred with the lowest score, by score and number.
    func lowestScores() throws -> UInt64?
    /// The members of groups, by the groups' titles.
    func members(ofGroups titles: [String]) throws -> UInt64?
    /// The packages that depend on each of these.
    func dependents(ofPackages names: [String]) throws -> UInt64?
    /// By age: how many, and the sum of their scores.
    func scoresByAge() throws -> UInt64?

    /// Inserts persons who are not among the generator's, in one durable transaction, without an object for each.
    func batchInsert(_ people: [PersonData]) throws -> UInt64?
    /// Adds one to everybody's score.
    func batchUpdate() throws -> UInt64?
    /// Deletes everybody, by a condition that all meet.
    func batchDelete() throws -> UInt64?
}

extension QueryPeer {
    func phrases(with word: String) throws -> UInt64? { nil }
    func scoresByAge() throws -> UInt64? { nil }
    func count() throws -> UInt64? { nil }
    func batchUpdate() throws -> UInt64? { nil }
    func batchDelete() throws -> UInt64? { nil }
}

/// One package of the Debian graph.
struct PackageData: Codable {
    var name: String
    var size: Int?
    var depends: [String]?

    /// What a file of JSON lines holds; none where there is no such file.
    static func load(_ path: String) throws -> [PackageData] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        let decoder = JSONDecoder()
        return try data.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(PackageData.self, from: Data($0)) }
    }
}

/// Phrases in many languages, the same at every run.
enum Phrases {
    private static let words = [
        "straße", "Größe", "écluse", "naïve", "señor", "Ångström", "žluťoučký", "kůň", "привет", "мир", "дорога", "ελληνικά", "θάλασσα",
        "日本語", "検索", "문장", "한국어", "עברית", "العربية", "ไทย", "tiếng", "Việt", "çığ", "İstanbul", "log", "tree", "river", "Über", "façade", "crème",
    ]

    static func make(_ count: Int) -> [String] {
        (0..<count).map { number in
            let bits = PersonGenerator.mix(number)
            return (0..<5).map { words[Int(bits >> UInt64($0 * 11) % UInt64(words.count))] }.joined(separator: " ") + " \(number)"
        }
    }
}
