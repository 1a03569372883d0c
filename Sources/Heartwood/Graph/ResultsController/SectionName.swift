import Foundation

extension PredicateValue {
    /// The name of a section whose objects have this value: the text itself, empty for null; numbers, dates and the like by their descriptions.
    var sectionName: String {
        switch self {
        case .null: ""
        case .text(let value): value
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        // The same text as a number's description on Apple's platforms.
        case .double(let value): Int64(exactly: value).map(String.init) ?? value.description
        case .decimal(let value): value.description
        case .date(let value): Date(timeIntervalSinceReferenceDate: value).description
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .object(let value): value.objectID.uriRepresentation().absoluteString
        case .objectID(let value): value.uriRepresentation().absoluteString
        case .data(let value): value.base64EncodedString()
        case .collection(let members): members.map(\.sectionName).joined(separator: ", ")
        case .other(let value): (value as? NSObject)?.description ?? "\(value)"
        }
    }

    /// Whether two values are known to name the same section. Called for each row, to save making a name.
    func isSameSection(as other: PredicateValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.text(let a), .text(let b)): a.hasSameBytes(as: b)
        case (.integer(let a), .integer(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.date(let a), .date(let b)), (.double(let a), .double(let b)): a == b
        default: false
        }
    }
}
