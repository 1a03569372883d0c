import Foundation

/// One record of an import file: values by name, in the form of the file.
struct Record {
    /// Counted from 1.
    let line: Int
    let values: [NamedValue]

    /// A line's label for its object and the name of its entity have these keys. No property's name begins with an @.
    static let labelName = "@id", entityName = "@entity"

    /// - Throws: if the value with this name is not a text. The result is nil if there is no value.
    func text(_ name: String) throws -> String? {
        guard let given = values.first(where: { $0.name == name }) else { return nil }
        switch given.value {
        case .null: return nil
        case .text(let text): return text
        default: throw ToolError.failure("\(name) takes a text, not \(AttributeText.describe(given.value))")
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

/// Reads records one by one, so that a file of any size needs the memory of one record.
protocol RecordReader: AnyObject {
    func next() throws -> Record?
    /// The number of bytes read so far.
    var position: UInt64 { get }
    /// Whether the members of a to-many relationship are one text (`MemberList`), since the format has no lists.
    var joinsMembers: Bool { get }
}

enum RecordFormat: String, CaseIterable {
    case jsonl, csv, tsv

    /// Chooses the format by the file's extension; JSON Lines if it is none of the known ones.
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
