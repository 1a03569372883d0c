import Foundation

/// A place in the history of one or several stores: behind a transaction.
///
/// Keep it where a program must go on after it was ended: archive it (`NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)`,
/// `NSKeyedUnarchiver.unarchivedObject(ofClass:from:)`), or encode it by `Codable`. Two tokens are equal where they name the same places.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorytoken
open class NSPersistentHistoryToken: NSObject, NSSecureCoding, NSCopying, Codable, @unchecked Sendable {
    // Unchecked: immutable once it is made.

    /// The place in one store's history.
    struct Place: Hashable, Codable, Sendable {
        /// The table of the history. One that was ended and begun again has another.
        let table: UInt16
        /// The newest transaction before the place; 0 where there is none.
        let number: Int64
        /// When it was, in seconds since 2001; 0 where that is not known. A store that was put back to an older state may give the number again.
        let time: Double
    }

    /// By the stores' identities.
    private(set) final var places: [String: Place] = [:]

    /// A token that names no place.
    public override init() {
        super.init()
    }

    convenience init(_ places: [String: Place]) {
        self.init()
        self.places = places
    }

    // MARK: Coding

    open class var supportsSecureCoding: Bool { true }
    private static let archiveKey = "places"

    open func encode(with coder: NSCoder) {
        let lines = places.sorted { $0.key < $1.key }.map { store, place in
            "\(place.table) \(place.number) \(place.time.bitPattern) \(store)"
        }
        coder.encode(lines.joined(separator: "\n") as NSString, forKey: Self.archiveKey)
    }

    /// nil where what is decoded is no token.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.archiveKey) else { return nil }
        var places: [String: Place] = [:]
        for line in (text as String).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let table = UInt16(words[0]), let number = Int64(words[1]), let time = UInt64(words[2]) else { return nil }
            places[String(words[3])] = Place(table: table, number: number, time: Double(bitPattern: time))
        }
        self.places = places
    }

    public required convenience init(from decoder: any Decoder) throws {
        self.init()
        places = try decoder.singleValueContainer().decode([String: Place].self)
    }

    open func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(places)
    }

    // MARK: Comparing

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.places == places }

    /// Which names the earlier places, in the stores that both name; nil where there is none, or one is ahead here and behind there.
    func ordered(_ other: NSPersistentHistoryToken) -> ComparisonResult? {
        var result: ComparisonResult?
        for (store, place) in places {
            guard let known = other.places[store], known.table == place.table else { continue }
            let found: ComparisonResult = place.number == known.number
                ? .orderedSame : place.number < known.number ? .orderedAscending : .orderedDescending
            if let result, result != found { return nil }
            result = found
        }
        return result
    }

    open override var hash: Int { places.hashValue }

    open override var description: String {
        let list = places.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.number)" }
        return "<NSPersistentHistoryToken \(list.joined(separator: ", "))>"
    }
}

extension NSPersistentHistoryToken: OrderedObject {
    final func ordered(beside other: AnyObject) -> ComparisonResult? { (other as? NSPersistentHistoryToken).flatMap(ordered) }
}
