/// An object that tells the newest commit of a line that a backup has acknowledged, so that the loss of the newest archive is noticed. Its name
/// has all of it. Spec: docs/format/log-archive.md, "Names".
///
/// A backup puts the archives first, then the head, and then deletes the heads that it has passed. Of several heads of a line the greatest
/// counts, so two backups of one store never undo each other's.
struct BackupHead: Hashable, Sendable {
    var storeID: StoredUUID
    var line: ArchiveName.Line
    var last: UInt64
    /// The greatest time of the archive that had the commit.
    var greatestTime: Int64

    static let suffix = ".head"

    /// The head behind an archive.
    init(_ name: ArchiveName) {
        storeID = name.storeID
        line = name.line
        last = name.last
        greatestTime = name.greatestTime
    }

    /// `STORE/LINEAGE[-PARENT-FORK]/LAST-GREATESTTIME.head`
    var text: String {
        ArchiveName.folder(of: storeID) + line.text + "/" + ArchiveName.decimal(last) + "-" + ArchiveName.hex(UInt64(bitPattern: greatestTime))
            + Self.suffix
    }

    /// - Returns: nil if the text is not the name of a head.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasSuffix(Self.suffix), let storeID = ArchiveName.id(parts[0]), let line = ArchiveName.Line(parts[1])
        else { return nil }
        let fields = parts[2].dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 2, let last = ArchiveName.number(fields[0]), last > 0, let time = ArchiveName.hex(fields[1]) else { return nil }
        self.storeID = storeID
        self.line = line
        self.last = last
        greatestTime = Int64(bitPattern: time)
    }

    /// The object's bytes: its name, for a person who looks at it.
    var content: [UInt8] { Array((text + "\n").utf8) }
}

extension BackupHead: Comparable {
    static func < (a: BackupHead, b: BackupHead) -> Bool {
        (a.last, a.greatestTime, a.line.text) < (b.last, b.greatestTime, b.line.text)
    }
}
