import Foundation
import RecordLog

/// The texts of the commands for backups.
enum BackupText {
    static let destination = Parameter<any BackupDestination>(
        ParameterDeclaration(
            name: "DESTINATION", kind: .backup, meaning: "the backup: a directory, or s3://BUCKET/PREFIX", isArgument: true, isRequired: true)
    ) { declaration, texts in
        guard let text = texts.last else { throw ToolError.usage("\(declaration.title) is missing") }
        return try destination(text)
    }
    static let interval = Parameter<Duration?>(
        ParameterDeclaration(name: "interval", placeholder: "SECONDS", kind: .seconds, meaning: "the time between two looks, with --follow")
    ) { title, text in
        guard let number = FloatText.value(text, as: Double.self), number > 0, number <= 86400 else {
            throw ToolError.usage("\(title) takes seconds, more than 0 and at most 86400, not \"\(text)\"")
        }
        return .milliseconds(Int64(max(1, number * 1000)))
    }.or(.seconds(1), shown: "1")
    static let lineage = identity(
        "lineage", "the line of commits of a backup that has several; without it the one with the newest commit")

    /// An option that takes an identity, in the form that `heartwood backup list` shows.
    static func identity(_ name: String, _ meaning: String) -> Parameter<StoredUUID?> {
        Parameter(ParameterDeclaration(name: name, placeholder: "ID", kind: .identity, meaning: meaning)) { title, text in
            guard let id = StoredUUID(text) else {
                throw ToolError.usage("\(title) takes an identity as `heartwood backup list` shows it, not \"\(text)\"")
            }
            return id
        }
    }

    /// The destination that an argument names: a directory, or the URL of a bucket.
    static func destination(_ text: String) throws -> any BackupDestination {
        guard !BucketBackup.isOne(text) else { return try BucketBackup.destination(text) }
        guard !text.contains("://") else { throw ToolError.usage("a destination is a directory or a bucket, s3://BUCKET/PREFIX") }
        guard !text.isEmpty else { throw ToolError.usage("the destination is empty") }
        return DirectoryDestination(path: text)
    }

    /// With microseconds: `--at` must find the commit again.
    static func time(_ microseconds: Int64) -> String { CommitText.time(microseconds) }

    static func range(_ range: ClosedRange<UInt64>) -> String {
        range.count == 1 ? number(range.lowerBound) : "\(number(range.lowerBound)) to \(number(range.upperBound))"
    }

    static func ranges(_ ranges: [ClosedRange<UInt64>]) -> String {
        ranges.isEmpty ? "none" : ranges.map(range).joined(separator: ", ")
    }

    static func number(_ value: UInt64) -> String { Output.number(Int(clamping: value)) }

    static func seconds(_ microseconds: Int64) -> String { String(format: "%.1f s", Double(microseconds) / 1_000_000) }

    // MARK: Archives

    /// A line of commits, in lines of text.
    static func lines(of line: BackupArchives.Line) -> [String] {
        let origin = line.parent.map { ", which left \($0) behind commit \(number(line.fork ?? 0))" } ?? ""
        let bytes = size(line.archives), bases = line.archives.count(where: \.isBase)
        return [
            "store \(line.storeID)", "  lineage \(line.lineage)\(origin)", "  commits that can be restored: \(ranges(line.restorable))",
        ] + (line.gaps.isEmpty ? [] : ["  gaps: \(ranges(line.gaps))"])
            + (line.acknowledged > line.newest ? ["  deleted: commit \(number(line.acknowledged)), which was backed up"] : []) + [
            line.archives.isEmpty
                ? "  its archives were deleted" : "  newest: commit \(number(line.newest)), \(time(line.newestTime))",
            "  \(Output.count(line.archives.count, "archive")), \(Output.number(bases)) of them full, \(Output.bytes(bytes))",
        ] + pieces(line.archives).map { "    " + text($0) }
    }

    /// A full copy, or increments that follow each other.
    private static func text(_ piece: [BackupArchives.Archive]) -> String {
        if piece.count == 1 { return archive(piece[0]) }
        let first = piece.map(\.commits.lowerBound).min() ?? 0, last = piece.map(\.commits.upperBound).max() ?? 0
        let least = piece.map(\.times.lowerBound).min() ?? 0, greatest = piece.map(\.times.upperBound).max() ?? 0
        let bytes = Output.bytes(size(piece))
        return "\(Output.number(piece.count)) increments: commits \(range(first...last)), \(bytes), \(times(least...greatest))"
    }

    /// A destination may state any sizes.
    private static func size(_ archives: [BackupArchives.Archive]) -> UInt64 {
        archives.reduce(0) { sum, archive in
            let (more, isTooLarge) = sum.addingReportingOverflow(archive.size)
            return isTooLarge ? .max : more
        }
    }

    /// A range of a file.
    static func bytes(_ range: Range<UInt64>) -> String { "bytes \(range.lowerBound) to \(range.upperBound - 1)" }

    static func archive(_ archive: BackupArchives.Archive) -> String {
        let noun = archive.commits.count == 1 ? "commit" : "commits"
        return "\(archive.isBase ? "full copy" : "increment"): \(noun) \(range(archive.commits)), \(Output.bytes(archive.size)), "
            + times(archive.times)
    }

    private static func times(_ range: ClosedRange<Int64>) -> String {
        let least = time(range.lowerBound), greatest = time(range.upperBound)
        return least == greatest ? least : "\(least) to \(greatest)"
    }

    /// Full copies, each by itself, and the increments between them as far as they follow each other.
    private static func pieces(_ archives: [BackupArchives.Archive]) -> [[BackupArchives.Archive]] {
        var pieces: [[BackupArchives.Archive]] = [], end: UInt64 = 0
        for archive in archives {
            if let last = pieces.last?.last, !last.isBase, !archive.isBase, last.fileID == archive.fileID, archive.commits.lowerBound <= end + 1 {
                pieces[pieces.count - 1].append(archive)
                end = max(end, archive.commits.upperBound)
            } else {
                pieces.append([archive])
                end = archive.commits.upperBound
            }
        }
        return pieces
    }
}
