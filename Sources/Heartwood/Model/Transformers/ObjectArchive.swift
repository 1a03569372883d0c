import Foundation
internal import HeartwoodFileReading

#if canImport(ObjectiveC)
    import ObjectiveC
#endif

/// Secure keyed archives, made and read so that neither an object nor a file can end the process.
///
/// Off Apple's platforms Foundation traps, instead of throwing, at an object that cannot be archived and at an archive that names a class which
/// is not allowed. So objects are checked before they are archived. Archives are read by `KeyedArchive`, which makes no objects of classes
/// that a file names. Foundation's unarchiver runs only if the caller allows classes of its own and the archive is known to name no others.
enum ObjectArchive {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The classes that every archive may contain.
    static let foundationClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
        NSUUID.self, NSNull.self,
    ]

    static let depthMax = 200

    static func isKind(_ object: Any, of allowed: AnyClass) -> Bool {
        isSubclass(type(of: AttributeCoding.bridged(object)), allowed)
    }

    /// - Throws: `Failure` if the object or a part of it cannot be archived or could not be read back.
    static func data(_ object: AnyObject, allowing classes: [AnyClass] = []) throws -> Data {
        try check(object, classes, depth: 0)
        return try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    }

    private static func check(_ object: AnyObject, _ classes: [AnyClass], depth: Int) throws {
        guard depth < depthMax else { throw Failure(description: "it is nested deeper than \(depthMax) levels") }
        func check(_ members: some Sequence) throws {
            for member in members { try self.check(AttributeCoding.bridged(member), classes, depth: depth + 1) }
        }
        switch object {
        case is NSDecimalNumber:
            throw Failure(description: "a decimal number is not archived; keep it in an attribute of its own")
        case let number as NSNumber:
            guard UInt8(bitPattern: number.objCType.pointee) == UInt8(ascii: "Q"), number.uint64Value > UInt64(Int64.max) else { return }
            throw Failure(description: "the number \(number) is beyond 64 bits with a sign")
        case is NSString, is NSDate, is NSData, is NSURL, is NSUUID, is NSNull: return
        case let list as NSArray: try check(list)
        case let set as NSSet: try check(set)
        case let set as NSOrderedSet: try check(set)
        case let dictionary as NSDictionary:
            try check(dictionary.allKeys)
            try check(dictionary.allValues)
        default:
            guard let type = type(of: object) as? any NSSecureCoding.Type, type.supportsSecureCoding,
                classes.contains(where: { isKind(object, of: $0) })
            else {
                throw Failure(
                    description: "an object of \(Swift.type(of: object)) is none of Foundation's collections, texts, numbers, dates, data, "
                        + "URLs and UUIDs")
            }
        }
    }

    /// The archived object; nil if the archive is damaged or contains classes other than Foundation's and `classes`.
    static func object(_ data: Data, allowing classes: [AnyClass] = []) -> Any? {
        guard let archive = try? KeyedArchive(Array(data), path: "an attribute's archive") else { return nil }
        if let object = try? archive.foundationRoot() { return object }
        let own = classes.filter { listed in !foundationClasses.contains { $0 == listed } }
        guard !own.isEmpty, let named = try? archive.namedClasses() else { return nil }
        let allowed = foundationClasses + own
        guard named.allSatisfy({ name in NSClassFromString(name).map { named in allowed.contains { isSubclass(named, $0) } } ?? false })
        else { return nil }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: allowed, from: data)
    }

    private static func isSubclass(_ type: AnyClass, _ parent: AnyClass) -> Bool {
        var next: AnyClass? = type
        while let known = next {
            if known == parent { return true }
            next = superclass(known)
        }
        return false
    }

    #if canImport(ObjectiveC)
        private static func superclass(_ type: AnyClass) -> AnyClass? { class_getSuperclass(type) }
    #else
        private static func superclass(_ type: AnyClass) -> AnyClass? { _getSuperclass(type) }
    #endif
}
