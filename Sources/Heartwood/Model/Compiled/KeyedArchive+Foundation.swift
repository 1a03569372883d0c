import Foundation
internal import HeartwoodFileReading

extension KeyedArchive {
    /// An archive whose faults are Core Data's errors.
    convenience init(_ bytes: [UInt8], path: String) throws {
        try self.init(bytes, path: path, failure: { ModelFile.failure($0) })
    }

    /// The root object as one of Foundation's: a collection, text, number, date, data, URL, UUID or null.
    /// - Throws: if the object or a part of it is anything else.
    func foundationRoot() throws -> AnyObject {
        try foundationValue(at: try rootNumber(), depth: 0)
    }

    private func foundationValue(at number: Int, depth: Int) throws -> AnyObject {
        guard depth < ObjectArchive.depthMax else { throw failure("is nested too deep") }
        guard let object = try object(at: number) else {
            guard let plain = try plain(at: number) else { throw failure("has an object without a value") }
            return switch plain {
            case let flag as Bool where type(of: plain) == Bool.self: NSNumber(value: flag)
            case let number as Int64: NSNumber(value: number)
            case let number as Double: NSNumber(value: number)
            default: AttributeCoding.bridged(plain)
            }
        }
        func members(_ key: String) throws -> [Any] {
            guard case .array(let numbers)? = try object.scalar(key) else { return try numbered(key.dropLast()) }
            return try numbers.map { try foundationValue(at: $0, depth: depth + 1) }
        }
        // Reads the values under "NS.object.0", "NS.object.1", …
        func numbered(_ key: Substring) throws -> [Any] {
            var result: [Any] = []
            while let number = object.values["\(key).\(result.count)"] { result.append(try foundationValue(at: number, depth: depth + 1)) }
            return result
        }
        switch object.className {
        case "NSNull": return NSNull()
        case "NSArray", "NSMutableArray": return NSArray(array: try members("NS.objects"))
        case "NSSet", "NSMutableSet": return NSSet(array: try members("NS.objects"))
        case "NSOrderedSet", "NSMutableOrderedSet": return NSOrderedSet(array: try members("NS.objects"))
        case "NSDictionary", "NSMutableDictionary":
            var entries: [AnyHashable: Any] = [:]
            for (key, value) in zip(try members("NS.keys"), try members("NS.objects")) {
                if let key = key as? NSObject { entries[key] = value }
            }
            return NSDictionary(dictionary: entries)
        default:
            guard let plain = try plain(at: number) else { throw failure("holds an object of the class \(object.className)") }
            return AttributeCoding.bridged(plain)
        }
    }
}
