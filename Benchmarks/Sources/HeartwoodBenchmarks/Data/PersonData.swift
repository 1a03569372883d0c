import Foundation

/// One person of the data that every peer stores.
struct PersonData: Codable {
    /// From 0; also the order of insertion.
    var number: Int
    var name: String
    var email: String
    var age: Int
    var score: Double
    /// Seconds since 2001-01-01 UTC.
    var birthday: Double
    var note: String
    /// From 0.
    var group: Int
}

/// Generates the same persons at every run.
struct PersonGenerator {
    let count: Int
    /// The beginning of every email address.
    var emailPrefix = ""
    /// All persons, made beforehand if making them is not to be measured.
    private var made: [PersonData] = []

    let groupCount: Int

    /// - Parameter groups: the number of groups; nil chooses one that suits the count.
    init(count: Int, groups: Int? = nil, emailPrefix: String = "", isMadeBeforehand: Bool = false) {
        self.count = count
        groupCount = groups ?? min(1000, max(1, count / 100))
        self.emailPrefix = emailPrefix
        if isMadeBeforehand { made = (0..<count).map(make) }
    }

    private static let names = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Ken", "Radia", "Tony", "Lynn", "Niklaus"]
    private static let words = ["log", "tree", "row", "index", "commit", "page", "frame", "run", "key", "block"]

    /// A number that looks random and is the same for the same input.
    static func mix(_ value: Int) -> UInt64 {
        var z = UInt64(bitPattern: Int64(value)) &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }

    func person(_ number: Int) -> PersonData { made.isEmpty ? make(number) : made[number] }

    private func make(_ number: Int) -> PersonData {
        let bits = Self.mix(number)
        let words = Self.words
        return PersonData(
            number: number, name: "\(Self.names[Int(bits % 12)]) \(bits >> 8 % 100_000)", email: "\(emailPrefix)person\(Self.mix(number) % 1_000_000_007)-\(number)@example.org",
            age: Int(bits >> 16 % 90), score: Double(bits >> 24 % 10_000) / 16, birthday: Double(bits >> 20 % 2_000_000_000) - 1_500_000_000,
            note: "\(words[Int(bits >> 3 % 10)]) \(words[Int(bits >> 7 % 10)]) \(words[Int(bits >> 11 % 10)])", group: Int(bits >> 13 % UInt64(groupCount)))
    }

    /// Distinct numbers spread over all persons.
    func sample(_ wanted: Int) -> [Int] {
        let step = max(1, count / max(1, wanted))
        var numbers = Array(stride(from: 0, to: count, by: step).prefix(wanted))
        numbers.sort { Self.mix($0) < Self.mix($1) }
        return numbers
    }
}

/// Two attributes of a person.
struct PersonRow: Codable {
    let name: String
    let age: Int
}
