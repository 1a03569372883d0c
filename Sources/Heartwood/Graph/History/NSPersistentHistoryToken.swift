import Foundation

/// A position in the history of one or several stores: after a transaction.
///
/// Keep a token where a program must go on after it was ended. Archive it (`NSKeyedArchiver.archivedData(withRootObject:requiringSecureCoding:)`,
/// `NSKeyedUnarchiver.unarchivedObject(ofClass:from:)`), or encode it with `Codable`. Two tokens are equal if they name the same positions.
/// Source: https://developer.apple.com/documentation/coredata/nspersistenthistorytoken
open class NSPersistentHistoryToken: NSObject, NSSecureCoding, NSCopying, Codable, @unchecked Sendable {
    // Unchecked: immutable after initialisation.

    /// A position in the history of one store.
    package struct Position: Hashable, Codable, Sendable {
        /// The table of the history. A history that was ended and begun again has another table.
        package let table: UInt16
        /// Stands for the table in positions of stores without a record log.
        package static let noTable: UInt16 = 0
        /// The newest transaction before the position; 0 for none.
        package let number: Int64
        /// The time of that transaction, in seconds since 2001; 0 if unknown. It distinguishes transactions of one number: a store that was put
        /// back to an older state may reuse the number.
        package let time: Double

        package init(table: UInt16, number: Int64, time: Double) {
            (self.table, self.number, self.time) = (table, number, time)
        }
    }

    /// By the stores' identifiers.
    package private(set) final var positions: [String: Position] = [:]

    /// Creates a token that names no position.
    public override init() {
        super.init()
    }

    package convenience init(_ positions: [String: Position]) {
        self.init()
        self.positions = positions
    }

    // MARK: Coding

    open class var supportsSecureCoding: Bool { true }
    private static let archiveKey = "places"

    open func encode(with coder: NSCoder) {
        let lines = positions.sorted { $0.key < $1.key }.map { store, position in
            "\(position.table) \(position.number) \(position.time.bitPattern) \(store)"
        }
        coder.encode(lines.joined(separator: "\n") as NSString, forKey: Self.archiveKey)
    }

    /// nil if the archive holds no token.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let text = coder.decodeObject(of: NSString.self, forKey: Self.archiveKey) else { return nil }
        var positions: [String: Position] = [:]
        for line in (text as String).split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count == 4, let table = UInt16(words[0]), let number = Int64(words[1]), let time = UInt64(words[2]) else { return nil }
            positions[String(words[3])] = Position(table: table, number: number, time: Double(bitPattern: time))
        }
        self.positions = positions
    }

    public required convenience init(from decoder: any Decoder) throws {
        self.init()
        positions = try decoder.singleValueContainer().decode([String: Position].self)
    }

    open func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(positions)
    }

    // MARK: Comparing

    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override func isEqual(_ object: Any?) -> Bool { (object as? NSPersistentHistoryToken)?.positions == positions }

    /// Compares the positions in the stores that both tokens name; nil if there is no such store, or if one is ahead in one store and behind in
    /// another.
    func ordered(_ other: NSPersistentHistoryToken) -> ComparisonResult? {
        var result: ComparisonResult?
        for (store, position) in positions {
            guard let known = other.positions[store], known.table == position.table else { continue }
            let found: ComparisonResult = position.number == known.number
                ? .orderedSame : position.number < known.number ? .orderedAscending : .orderedDescending
            if let result, result != found { return nil }
            result = found
        }
        return result
    }

    open override var hash: Int { positions.hashValue }

    open override var description: String {
        let list = positions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.number)" }
        return "<NSPersistentHistoryToken \(list.joined(separator: ", "))>"
    }
}

extension NSPersistentHistoryToken: OrderedObject {
    final func ordered(beside other: AnyObject) -> ComparisonResult? { (other as? NSPersistentHistoryToken).flatMap(ordered) }
}
