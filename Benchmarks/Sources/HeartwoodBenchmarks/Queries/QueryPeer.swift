import Foundation

/// A store that answers queries. Each call is one timed block and returns a checksum that must be equal between peers; nil if the peer has no such
/// query.
protocol QueryPeer: AnyObject, SendableMetatype {
    static var name: String { get }
    /// - Parameter directory: the folder of the stores; peers of one engine find each other's.
    init(directory: URL, generator: PersonGenerator) throws

    /// Loads persons, phrases and packages, unless another peer has done so.
    func fill(phrases: [String], packages: [PackageData]) throws
    func open() throws
    func close() throws
    /// Drops the memory of earlier queries.
    func forget()

    func byEmail(_ emails: [String]) throws -> UInt64?
    /// Reads the next hundred persons in order from each birthday on.
    func ranges(_ birthdays: [Double]) throws -> UInt64?
    /// Counts the persons older than 40 with "tree" in their note.
    func count() throws -> UInt64?
    /// Counts the phrases that contain a word in any case and with any diacritics (SQLite's LIKE: any case of ASCII letters).
    func phrases(with word: String) throws -> UInt64?
    /// Reads the hundred persons with the lowest score, by score and number.
    func lowestScores() throws -> UInt64?
    /// Reads the members of groups, found by the groups' titles.
    func members(ofGroups titles: [String]) throws -> UInt64?
    /// Reads the packages that depend on each of these.
    func dependents(ofPackages names: [String]) throws -> UInt64?
    /// Groups persons by age: the number, and the sum of the scores.
    func scoresByAge() throws -> UInt64?

    /// Inserts new persons in one durable transaction, without an object for each.
    func batchInsert(_ people: [PersonData]) throws -> UInt64?
    /// Adds one to every person's score.
    func batchUpdate() throws -> UInt64?
    /// Deletes all persons, by a condition that all meet.
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

    /// Loads the packages from a file of JSON lines; none if there is no such file.
    static func load(_ path: String) throws -> [PackageData] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        let decoder = JSONDecoder()
        return try data.split(separator: UInt8(ascii: "\n")).map { try decoder.decode(PackageData.self, from: Data($0)) }
    }
}

/// Generates phrases in many languages, the same at every run.
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
