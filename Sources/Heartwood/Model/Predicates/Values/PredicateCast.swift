import Foundation

/// The types for CAST, by their names in a format. Values without a literal are also written with CAST.
enum PredicateCast: String, CaseIterable {
    case date = "NSDate"
    case number = "NSNumber"
    case string = "NSString"
    case decimal = "NSDecimalNumber"
    case uuid = "NSUUID"
    case url = "NSURL"
    case data = "NSData"

    /// - Returns: null if the value cannot be converted.
    func apply(_ value: PredicateValue) -> PredicateValue {
        switch self {
        case .date:
            if case .date = value { return value }
            guard let seconds = PredicateNumber(value)?.double else { return .null }
            return .date(seconds)
        case .number:
            if case .date(let seconds) = value { return .double(seconds) }
            if let number = PredicateNumber(value) { return number.value }
            guard case .text(let text) = value else { return .null }
            return Int64(text).map(PredicateValue.integer) ?? Double(text).map(PredicateValue.double) ?? .null
        case .string: return Self.text(value).map(PredicateValue.text) ?? .null
        case .decimal:
            // The text of a decimal NaN, which the parser of decimals does not know.
            if case .text("NaN") = value { return .decimal(.nan) }
            if case .text(let text) = value { return Decimal(string: text).map(PredicateValue.decimal) ?? .null }
            return PredicateNumber(value)?.decimal.map(PredicateValue.decimal) ?? .null
        case .uuid:
            if case .uuid = value { return value }
            guard case .text(let text) = value else { return .null }
            return UUID(uuidString: text).map(PredicateValue.uuid) ?? .null
        case .url:
            if case .url = value { return value }
            guard case .text(let text) = value else { return .null }
            return URL(string: text).map(PredicateValue.url) ?? .null
        case .data:
            if case .data = value { return value }
            guard case .text(let text) = value else { return .null }
            return Data(base64Encoded: text).map(PredicateValue.data) ?? .null
        }
    }

    private static func text(_ value: PredicateValue) -> String? {
        switch value {
        case .text(let text): text
        case .bool(let flag): flag ? "1" : "0"
        case .integer(let number): "\(number)"
        case .double(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .decimal(let number): "\(number)"
        case .uuid(let uuid): uuid.uuidString
        case .url(let url): url.absoluteString
        case .data(let data): data.base64EncodedString()
        case .date(let seconds): ValueText.date(Date(timeIntervalSinceReferenceDate: seconds))
        case .null, .object, .objectID, .collection, .other: nil
        }
    }
}
