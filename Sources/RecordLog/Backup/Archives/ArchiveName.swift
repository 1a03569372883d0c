/// The name of a log archive at a destination. Names tell all that a plan needs. Spec: docs/format/log-archive.md, "Names".
///
/// `STORE/LINEAGE[-PARENT-FORK]/FILE-FIRST-LAST-LEASTTIME-GREATESTTIME[-base].hwlog`
struct ArchiveName: Hashable, Sendable {
    var storeID: StoredUUID
    var lineage: StoredUUID
    /// The lineage that this one left, and the last commit that both have.
    var parent: StoredUUID?
    var fork: UInt64 = 0
    var fileID: UInt64
    var first: UInt64
    var last: UInt64
    var leastTime: Int64
    var greatestTime: Int64
    var isBase: Bool

    static let suffix = ".hwlog"
    /// No store gets so far. Sums with smaller numbers do not overflow.
    private static let numberMax: UInt64 = 1 << 62

    init(_ header: LogArchiveHeader) {
        storeID = header.storeID
        lineage = header.lineage.id
        parent = header.lineage.fork?.parent
        fork = header.lineage.fork?.sequence ?? 0
        fileID = header.fileID
        first = header.first
        last = header.last
        leastTime = header.leastTime
        greatestTime = header.greatestTime
        isBase = header.isBase
    }

    /// Whether a header states what this name does.
    func fits(_ header: LogArchiveHeader) -> Bool { self == ArchiveName(header) }

    var text: String {
        let range = Self.decimal(first) + "-" + Self.decimal(last)
        let times = Self.hex(UInt64(bitPattern: leastTime)) + "-" + Self.hex(UInt64(bitPattern: greatestTime))
        return Self.folder(of: storeID) + line.text + "/" + Self.hex(fileID) + "-" + range + "-" + times + (isBase ? "-base" : "") + Self.suffix
    }

    /// The line that the name states.
    var line: Line { Line(id: lineage, parent: parent, fork: fork) }

    /// - Returns: nil if the text is not the name of a log archive.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasSuffix(Self.suffix), let storeID = Self.id(parts[0]) else { return nil }
        guard let line = Line(parts[1]) else { return nil }
        let fields = parts[2].dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 5 || fields.count == 6 && fields[5] == "base", let fileID = Self.hex(fields[0]),
            let first = Self.number(fields[1]), let last = Self.number(fields[2]), let leastTime = Self.hex(fields[3]),
            let greatestTime = Self.hex(fields[4]), first > 0, first <= last
        else { return nil }
        self.storeID = storeID
        (lineage, parent, fork) = (line.id, line.parent, line.fork)
        self.fileID = fileID
        self.first = first
        self.last = last
        self.leastTime = Int64(bitPattern: leastTime)
        self.greatestTime = Int64(bitPattern: greatestTime)
        isBase = fields.count == 6
    }

    // MARK: Parts

    /// A line as the names of its objects state it: `LINEAGE[-PARENT-FORK]`.
    struct Line: Hashable, Sendable {
        var id: StoredUUID
        /// The lineage that this one left, and the last commit that both have.
        var parent: StoredUUID?
        var fork: UInt64 = 0

        var text: String { ArchiveName.text(id) + (parent.map { "-" + ArchiveName.text($0) + "-" + ArchiveName.decimal(fork) } ?? "") }

        init(id: StoredUUID, parent: StoredUUID?, fork: UInt64) {
            self.id = id
            self.parent = parent
            self.fork = fork
        }

        init?(_ text: Substring) {
            let fields = text.split(separator: "-", omittingEmptySubsequences: false)
            guard fields.count == 1 || fields.count == 3, let id = ArchiveName.id(fields[0]) else { return nil }
            self.id = id
            guard fields.count == 3 else { return }
            guard let parent = ArchiveName.id(fields[1]), let fork = ArchiveName.number(fields[2]) else { return nil }
            (self.parent, self.fork) = (parent, fork)
        }
    }

    /// The prefix of everything of a store.
    static func folder(of storeID: StoredUUID) -> String { text(storeID) + "/" }

    /// An identity as 32 hexadecimal digits in lower case.
    static func text(_ id: StoredUUID) -> String { id.uuidString.filter { $0 != "-" }.lowercased() }

    static func id(_ text: Substring) -> StoredUUID? {
        let digits = Array(text.utf8)
        guard digits.count == 32, digits.allSatisfy(isHexDigit) else { return nil }
        let groups = [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
        return StoredUUID(groups.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-"))
    }

    /// 16 hexadecimal digits in lower case.
    static func hex(_ value: UInt64) -> String { padded(String(value, radix: 16), to: 16) }

    static func hex(_ text: Substring) -> UInt64? {
        text.utf8.count == 16 && text.utf8.allSatisfy(isHexDigit) ? UInt64(text, radix: 16) : nil
    }

    static func decimal(_ value: UInt64) -> String { padded(String(value), to: 20) }

    private static func padded(_ text: String, to count: Int) -> String { String(repeating: "0", count: count - text.utf8.count) + text }

    /// The number of a commit.
    static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.count == 20, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt64(text).flatMap { $0 <= numberMax ? $0 : nil }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension ArchiveName: Comparable {
    /// By first commit, file and last commit. Texts are not made: a destination may have a hundred thousand archives.
    static func < (a: ArchiveName, b: ArchiveName) -> Bool {
        let range = (a.first, a.fileID, a.last), other = (b.first, b.fileID, b.last)
        guard range == other else { return range < other }
        let line = (a.storeID, a.lineage, a.fork), otherLine = (b.storeID, b.lineage, b.fork)
        guard line == otherLine else { return line < otherLine }
        return (a.isBase ? 0 : 1, a.leastTime, a.greatestTime) < (b.isBase ? 0 : 1, b.leastTime, b.greatestTime)
    }
}

/// An archive that a destination lists.
struct ListedArchive: Hashable, Sendable {
    var name: ArchiveName
    /// The object's length in bytes.
    var size: UInt64
}
