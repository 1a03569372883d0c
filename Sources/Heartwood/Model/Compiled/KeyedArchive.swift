import Foundation
internal import FileReading

/// A keyed archive whose objects are read one by one. It makes no objects of classes that a file names.
///
/// Each read counts by the object's size, and the total is limited, so that an archive whose parts share parts cannot keep a reader busy for
/// ever. A larger archive has a higher limit. Callers must guard against cycles themselves.
final class KeyedArchive {
    /// One archived object: its class, and its values by key.
    struct Object {
        let number: Int
        let className: String
        fileprivate let values: [String: Int]
        fileprivate let archive: KeyedArchive
    }

    private static let lookMin = 2_000_000
    /// Each archived object needs at least one reference of a byte, and about a dozen reads go to an object.
    private static let looksPerByte = 32

    private let list: BinaryPropertyList
    private let objects: [Int]
    private let path: String
    private let lookMax: Int
    private var looks = 0
    private var classNames: [Int: String] = [:]
    /// The texts of dictionary keys, by number. All objects of a class share them.
    private var keys: [Int: String] = [:]
    private var top: [String: Int] = [:]

    init(_ bytes: [UInt8], path: String) throws {
        self.path = path
        lookMax = max(Self.lookMin, bytes.count * Self.looksPerByte)
        do {
            list = try BinaryPropertyList(bytes)
            guard case .dictionary(let pairs) = try list.object(list.root) else { throw Self.failure(path, "is not a keyed archive") }
            var parts: [String: Int] = [:]
            for pair in pairs {
                if case .text(let key) = try list.object(pair.key) { parts[key] = pair.value }
            }
            guard let archiver = parts["$archiver"], case .text("NSKeyedArchiver") = try list.object(archiver),
                let listed = parts["$objects"], case .array(let objects) = try list.object(listed),
                let top = parts["$top"], case .dictionary(let roots) = try list.object(top)
            else { throw Self.failure(path, "is not a keyed archive") }
            self.objects = objects
            for pair in roots {
                if case .text(let key) = try list.object(pair.key) { self.top[key] = pair.value }
            }
        } catch let damage as BinaryPropertyList.Damage {
            throw Self.failure(path, damage)
        }
    }

    static func failure(_ path: String, _ reason: String) -> NSError { ModelFile.failure("\(path): \(reason).") }

    private static func failure(_ path: String, _ damage: BinaryPropertyList.Damage) -> NSError {
        failure(path, "\(damage.reason), at byte \(damage.offset)")
    }

    /// The archived root object.
    func root() throws -> Object {
        guard let root = top["root"], let object = try object(at: root) else { throw Self.failure(path, "has no root object") }
        return object
    }

    private func look(_ number: Int) throws -> BinaryPropertyList.Object {
        looks += 1
        guard looks <= lookMax else { throw Self.failure(path, "refers to its own parts without end") }
        do {
            let found = try list.object(number)
            // A longer object costs more to read.
            switch found {
            case .array(let members): looks += members.count
            case .dictionary(let pairs): looks += pairs.count
            case .text(let text): looks += text.utf8.count / 32
            default: break
            }
            return found
        } catch {
            throw Self.failure(path, error)
        }
    }

    /// Follows a reference into the archive's objects. Returns nil for `$null`.
    fileprivate func value(at number: Int) throws -> (value: BinaryPropertyList.Object, number: Int)? {
        var found = try look(number), number = number
        if case .reference(let index) = found {
            // Index 0 is the archive's null. A text "$null" elsewhere is a text.
            guard index > 0 else { return nil }
            guard index < objects.count else { throw Self.failure(path, "refers to object \(index) of \(objects.count)") }
            number = objects[index]
            found = try look(number)
        }
        if case .null = found { return nil }
        return (found, number)
    }

    fileprivate func object(at number: Int) throws -> Object? {
        guard let found = try value(at: number), case .dictionary(let pairs) = found.value else { return nil }
        var values: [String: Int] = [:]
        values.reserveCapacity(pairs.count)
        for pair in pairs {
            if let key = keys[pair.key] {
                values[key] = pair.value
            } else if case .text(let key) = try look(pair.key) {
                keys[pair.key] = key
                values[key] = pair.value
            }
        }
        guard let described = values["$class"] else { return nil }
        return Object(number: found.number, className: try className(described), values: values, archive: self)
    }

    private func className(_ number: Int) throws -> String {
        if let known = classNames[number] { return known }
        var name = ""
        if let described = try value(at: number), case .dictionary(let pairs) = described.value {
            for pair in pairs {
                if case .text("$classname") = try look(pair.key), case .text(let text) = try look(pair.value) { name = text }
            }
        }
        classNames[number] = name
        return name
    }
}

extension KeyedArchive.Object {
    func has(_ key: String) -> Bool { values[key] != nil }

    func object(_ key: String) throws -> KeyedArchive.Object? { try values[key].flatMap { try archive.object(at: $0) } }

    /// A string, stored directly or in the object as which a mutable string is archived.
    func text(_ key: String) throws -> String? { try values[key].flatMap { try archive.text(at: $0) } }

    /// The value under a key. If it is an object, its parts are not read.
    fileprivate func scalar(_ key: String) throws -> BinaryPropertyList.Object? {
        try values[key].flatMap { try archive.value(at: $0)?.value }
    }

    func integer(_ key: String) throws -> Int64? {
        switch try scalar(key) {
        case .integer(let value): return value
        case .bool(let flag): return flag ? 1 : 0
        default: return nil
        }
    }

    func flag(_ key: String) throws -> Bool { try integer(key).map { $0 != 0 } ?? false }

    /// A plain value, or the value of an archived Foundation object: a number, a text, a date, data, a UUID or a URL.
    func plain(_ key: String) throws -> Any? { try values[key].flatMap { try archive.plain(at: $0) } }

    /// The members of an array or a set. Each is read on request.
    func members(_ key: String) throws -> [KeyedArchive.Member] {
        guard let collection = try object(key) else { return [] }
        return try collection.list("NS.objects").map { KeyedArchive.Member(number: $0, archive: archive) }
    }

    /// Bytes, stored directly or in the object as which they are archived.
    func data(_ key: String) throws -> Data? { try plain(key) as? Data }

    /// The values of a dictionary whose keys are texts, sorted by key.
    func entries(_ key: String) throws -> [(key: String, value: KeyedArchive.Member)] {
        guard let dictionary = try object(key) else { return [] }
        // A model that Core Data has loaded is archived with dictionaries that share their keys.
        let mapping = try dictionary.object("searchMapping")
        let keys = try mapping?.object("keys")?.list("NS.objects") ?? dictionary.list("NS.keys")
        let values = try mapping == nil ? dictionary.list("NS.objects") : dictionary.object("values")?.list("NS.objects") ?? []
        return try zip(keys, values).compactMap { key, value in
            try archive.text(at: key).map { ($0, KeyedArchive.Member(number: value, archive: archive)) }
        }.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    }

    private func list(_ key: String) throws -> [Int] {
        guard case .array(let list)? = try scalar(key) else { return [] }
        return list
    }
}

extension KeyedArchive {
    /// A member of a collection.
    struct Member {
        fileprivate let number: Int
        fileprivate let archive: KeyedArchive

        func object() throws -> Object? { try archive.object(at: number) }
        func text() throws -> String? { try archive.text(at: number) }
        func plain() throws -> Any? { try archive.plain(at: number) }
        /// The members, if this member is an array.
        func members() throws -> [Member] {
            guard case .array(let numbers)? = try object()?.scalar("NS.objects") else { return [] }
            return numbers.map { Member(number: $0, archive: archive) }
        }
    }

    /// The names of all classes in the archive.
    func namedClasses() throws -> Set<String> {
        var names: Set<String> = []
        for number in objects {
            guard case .dictionary(let pairs) = try look(number) else { continue }
            for pair in pairs {
                if case .text("$classname") = try look(pair.key), case .text(let name) = try look(pair.value) { names.insert(name) }
            }
        }
        return names
    }

    /// The root object as one of Foundation's: a collection, text, number, date, data, URL, UUID or null.
    /// - Throws: if the object or a part of it is anything else.
    func foundationRoot() throws -> AnyObject {
        guard let root = top["root"] else { throw Self.failure(path, "has no root object") }
        return try foundationValue(at: root, depth: 0)
    }

    private func foundationValue(at number: Int, depth: Int) throws -> AnyObject {
        guard depth < ObjectArchive.depthMax else { throw Self.failure(path, "is nested too deep") }
        guard let object = try object(at: number) else {
            guard let plain = try plain(at: number) else { throw Self.failure(path, "has an object without a value") }
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
            guard let plain = try plain(at: number) else { throw Self.failure(path, "holds an object of the class \(object.className)") }
            return AttributeCoding.bridged(plain)
        }
    }

    fileprivate func text(at number: Int) throws -> String? {
        guard let found = try value(at: number) else { return nil }
        if case .text(let text) = found.value { return text }
        guard case .text(let inner)? = try object(at: number)?.scalar("NS.string") else { return nil }
        return inner
    }

    fileprivate func plain(at number: Int) throws -> Any? {
        guard let found = try value(at: number) else { return nil }
        switch found.value {
        case .null, .reference, .array: return nil
        case .bool(let flag): return flag
        case .integer(let value): return value
        case .real(let value): return value
        case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): return data
        case .text(let text): return text
        case .dictionary: break
        }
        guard let object = try object(at: number) else { return nil }
        switch object.className {
        case "NSString", "NSMutableString": return try text(at: number)
        case "NSDate":
            guard case .real(let seconds)? = try object.scalar("NS.time") else { return nil }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case "NSData", "NSMutableData":
            guard case .data(let data)? = try object.scalar("NS.data") else { return nil }
            return data
        case "NSUUID":
            guard case .data(let data)? = try object.scalar("NS.uuidbytes"), data.count == 16 else { return nil }
            return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case "NSURL": return try object.text("NS.relative").flatMap(URL.init(string:))
        case "NSDecimalNumber": return try Self.decimal(object)
        default: return nil
        }
    }

    /// Decodes an archived decimal: sixteen bytes of mantissa, in the byte order that `NS.mantissa.bo` names (1: little).
    private static func decimal(_ object: Object) throws -> NSDecimalNumber? {
        guard case .data(let mantissa)? = try object.scalar("NS.mantissa"), mantissa.count <= 16 else { return nil }
        let units = try object.integer("NS.length").map { Int(clamping: $0) } ?? 8
        guard (0...8).contains(units), units * 2 <= mantissa.count else { return nil }
        let isBig = try object.integer("NS.mantissa.bo") == 2
        var value = Decimal(0)
        for unit in (0..<units).reversed() {
            let at = mantissa.startIndex + unit * 2
            let low = mantissa[at + (isBig ? 1 : 0)], high = mantissa[at + (isBig ? 0 : 1)]
            value = value * 65536 + Decimal(Int(high) << 8 | Int(low))
        }
        guard let exponent = try object.integer("NS.exponent"), (-128...127).contains(exponent) else { return nil }
        let sign: FloatingPointSign = try object.flag("NS.negative") ? .minus : .plus
        return NSDecimalNumber(decimal: Decimal(sign: sign, exponent: Int(exponent), significand: value))
    }
}
