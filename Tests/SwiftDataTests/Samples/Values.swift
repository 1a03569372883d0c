import Foundation
import SwiftData

/// A property of each type, with and without an optional.
@Model
final class Values {
    var key: Int = 0
    var int: Int = 1
    var int8: Int8 = 2
    var int16: Int16 = 3
    var int32: Int32 = 4
    var int64: Int64 = 5
    var uint: UInt = 6
    var uint8: UInt8 = 7
    var uint16: UInt16 = 8
    var uint32: UInt32 = 9
    var uint64: UInt64 = 10
    var double: Double = 1.5
    var float: Float = 2.5
    var bool: Bool = true
    var string: String = "a"
    var date: Date = Date(timeIntervalSinceReferenceDate: 1)
    var data: Data = Data([1])
    var uuid: UUID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    var url: URL = URL(filePath: "/a")
    var decimal: Decimal = Decimal(7)
    var text: Condition = Condition.new
    var number: Side = Side.front
    var payload: Origin = Origin.unknown
    var place: Place = Place(city: "a", zip: nil, point: Place.Point(x: 0, y: 0))
    var list: [Int] = [1]
    var map: [String: Int] = ["a": 1]
    var set: Set<String> = Set(["a"])
    var options: Options = Options.one
    var optInt: Int?
    var optInt8: Int8?
    var optUInt64: UInt64?
    var optDouble: Double?
    var optFloat: Float?
    var optBool: Bool?
    var optString: String?
    var optDate: Date?
    var optData: Data?
    var optUUID: UUID?
    var optURL: URL?
    var optDecimal: Decimal?
    var optText: Condition?
    var optNumber: Side?
    var optPayload: Origin?
    var optPlace: Place?
    var optList: [Int]?
    var optMap: [String: Int]?

    init(key: Int) { self.key = key }
}

struct Options: OptionSet, Codable {
    let rawValue: Int
    static let one = Options(rawValue: 1)
    static let two = Options(rawValue: 2)
}
