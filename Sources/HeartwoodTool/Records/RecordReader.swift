import Foundation

/// One record of an import file: values by name, as they stand in the file.
struct Record {
    /// From 1.
    let line: Int
    let values: [(name: String, value: RecordValue)]
}

enum RecordValue {
    case null
    case bool(Bool)
    case number(NSNumber)
    case text(String)
    case list([RecordValue])
    case object
}

/// Reads records one after the other, so that a file of any size needs the memory of one.
protocol RecordReader: AnyObject {
    func next() throws -> Record?
    /// Bytes read so far.
    var position: UInt64 { get }
    /// Whether the members of a to-many relationship are one text (`MemberList`), since the format has no lists.
    var joinsMembers: Bool { get }
}

enum RecordFormat: String {
    case jsonl, csv, tsv

    /// By the file's ending; JSON Lines where it says nothing.
    init(path: String) {
        switch path.split(separator: ".").last?.lowercased() {
        case "csv": self = .csv
        case "tsv", "tab": self = .tsv
        default: self = .jsonl
        }
    }

    func reader(_ lines: LineReader) throws -> any RecordReader {
        switch self {
        case .jsonl: JSONLinesReader(lines)
        case .csv: try DelimitedReader(lines, delimiter: ",")
        case .tsv: try DelimitedReader(lines, delimiter: "\t")
        }
    }
}
