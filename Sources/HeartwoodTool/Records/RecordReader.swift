import Foundation

/// One record of an import file: values by name, as they stand in the file.
struct Record {
    /// From 1.
    let line: Int
    let values: [NamedValue]

    /// The names under which a line says what its object is called in this file, and of which entity it is. No property begins with an @.
    static let labelName = "@id", entityName = "@entity"

    /// - Throws: where the value under this name is anything but a text; nil where it is not there.
    func text(_ name: String) throws -> String? {
        guard let stated = values.first(where: { $0.name == name }) else { return nil }
        switch stated.value {
        case .null: return nil
        case .text(let text): return text
        default: throw ToolError.failure("\(name) takes a text, not \(AttributeText.describe(stated.value))")
        }
    }
}

struct NamedValue {
    let name: String
    let value: RecordValue
}

enum RecordValue {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case text(String)
    case list([RecordValue])
    case object([NamedValue])
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
