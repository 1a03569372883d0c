import Foundation
internal import HeartwoodFileReading
import RecordLog

/// Each type of attribute.
extension AttributeCodec {
    static let bool = AttributeCodec(
        .bool, .boolean, .bool, raw: .integer, number: .flag,
        parse: { NSNumber(value: flag($0) ?? ($0 as NSString).boolValue) },
        convert: { $0.isTrue.map(ManagedValue.bool) },
        result: { NSNumber(value: $0.double != 0) },
        neutral: { .bool(false) }, probes: { [.bool(true), .bool(false)] })

    static let int16 = whole(.int16, .integer16, .int16, Int16.self) { NSNumber(value: $0) }
    static let int32 = whole(.int32, .integer32, .int32, Int32.self) { NSNumber(value: $0) }
    static let int64 = whole(.int64, .integer64, .int64, Int64.self) { NSNumber(value: $0) }

    static let float = AttributeCodec(
        .float, .float, .float, raw: .double, number: .fraction,
        parse: { NSNumber(value: Float($0) ?? ($0 as NSString).floatValue) },
        convert: { $0.nearestDouble.map { .double(Double(Float($0))) } },
        result: { NSNumber(value: Float($0.double)) },
        limit: numberLimit { .double(Double(Float($0))) },
        neutral: { .double(0) }, probes: { [.double(1.5), .double(-2.25)] })

    static let double = AttributeCodec(
        .double, .double, .double, raw: .double, number: .fraction,
        parse: { NSNumber(value: Double($0) ?? ($0 as NSString).doubleValue) },
        convert: { $0.nearestDouble.map(ManagedValue.double) },
        result: { NSNumber(value: $0.double) },
        limit: numberLimit { .double($0) },
        neutral: { .double(0) }, probes: { [.double(1.5), .double(-2.25)] })

    static let decimal = AttributeCodec(
        .decimal, .decimal, .decimal, raw: .decimal, number: .fraction,
        parse: { NSDecimalNumber(decimal: decimal($0) ?? 0) },
        convert: { $0.nearestDecimal.map(ManagedValue.decimal) },
        result: { $0.decimal.map(NSDecimalNumber.init(decimal:)) },
        limit: numberLimit { number in decimal("\(number)").map { .decimal($0) } ?? .double(number) },
        neutral: { .decimal(.zero) }, probes: { [.decimal(NSDecimalNumber(string: "-1.25"))] })

    static let string = AttributeCodec(
        .string, .string, .text, parse: { $0 },
        limit: { length in Int(exactly: length).map { (["length"], .integer(Int64($0))) } },
        neutral: { .text("") }, probes: { [.text(" aB c\u{E9}, and some forty letters after it. ")] })

    static let date = AttributeCodec(
        .date, .date, .date, raw: .double,
        parse: { Double($0).map(Date.init(timeIntervalSinceReferenceDate:)) },
        result: { Date(timeIntervalSinceReferenceDate: $0.double) },
        limit: { ([], .date($0)) },
        neutral: { .date(0) }, probes: { [.date(86_400.5)] })

    static let data = bytes(.data, .bytes)
    static let externalData = bytes(.externalData, .value)

    static let uuid = AttributeCodec(
        .uuid, .uuid, .uuid, parse: { UUID(uuidString: $0) },
        neutral: { .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) },
        probes: { [.uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))] })

    static let uri = AttributeCodec(
        .uri, .uri, .text, parse: { URL(string: $0) },
        neutral: { URL(string: "about:blank").map(ManagedValue.url) ?? .null },
        probes: { URL(string: "x://y/Z?q").map { [.url($0)] } ?? [] })

    static let transformable = AttributeCodec(.transformable, .transformable, .bytes, isComparable: false)
    static let objectID = AttributeCodec(.objectID, .objectID, displayName: "Object ID", nil, isComparable: false)
    static let undefined = AttributeCodec(.undefined, .undefined, nil, isComparable: false)
    /// Only a type of descriptions: at run time a composite attribute is its elements.
    static let composite = AttributeCodec(.undefined, .composite, nil, isComparable: false)
}

/// Parts that several types share.
extension AttributeCodec {
    private static func whole<Integer: FixedWidthInteger & SignedInteger & Sendable>(
        _ kind: PropertyKind, _ stated: ModelAttributeType, _ column: ColumnType, _: Integer.Type, _ object: @escaping @Sendable (Integer) -> NSNumber
    ) -> AttributeCodec {
        AttributeCodec(
            kind, stated, column, raw: .integer, number: .whole,
            // Xcode may also write a whole number as "0.0". If the attribute had another type before, its old text may still be in the file
            // ("NO"). Like Core Data this takes the number at the text's start, or 0 if there is none.
            parse: { (Integer($0) ?? Integer(exactly: ($0 as NSString).integerValue)).map(object) },
            convert: { $0.wholeNumber.flatMap { Integer(exactly: $0) }.map { .integer(Int64($0)) } },
            result: { $0.integer.flatMap { Integer(exactly: $0) }.map(object) },
            limit: numberLimit { .double($0) },
            neutral: { .integer(0) }, probes: { [.integer(2), .integer(100), .integer(-1)] })
    }

    private static func bytes(_ kind: PropertyKind, _ column: ColumnType) -> AttributeCodec {
        AttributeCodec(
            kind, .binary, displayName: "Binary Data", column, parse: { Data(base64Encoded: $0) },
            neutral: { .data(Data()) }, probes: { [.data(Data([1, 2, 0]))] })
    }

    /// - Parameter fraction: a limit that is no whole number, in the type's own form. 0.1 becomes the decimal 0.1 or the nearest float; the
    ///   double is neither.
    private static func numberLimit(
        _ fraction: @escaping @Sendable (Double) -> PredicateValue
    ) -> @Sendable (Double) -> (keys: [String], value: PredicateValue)? {
        { limit in ([], Int64(exactly: limit).map(PredicateValue.integer) ?? fraction(limit)) }
    }

    private static func decimal(_ text: String) -> Decimal? { Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) }

    private static func flag(_ text: String) -> Bool? {
        switch text.uppercased() {
        case "YES", "TRUE", "1": true
        case "NO", "FALSE", "0": false
        default: nil
        }
    }
}
