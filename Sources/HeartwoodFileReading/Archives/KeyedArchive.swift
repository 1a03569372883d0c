import Foundation

/// A keyed archive whose objects are read one by one. It makes no objects of classes that a file names.
///
/// Each read counts by the object's size, and the total is limited, so that an archive whose parts share parts cannot keep a reader busy for
/// ever. A larger archive has a higher limit. Callers must guard against cycles themselves.
package final class KeyedArchive {
    /// One archived object: its class, and its values by key.
    package struct Object {
        package let number: Int
        package let className: String
        /// The numbers of the values.
        package let values: [String: Int]
        fileprivate let archive: KeyedArchive
    }

    /// Makes the error of a sentence that names the file: each target has errors of its own.
    package typealias Failure = @Sendable (String) -> any Error

    private static let lookMin = 2_000_000
    /// Each archived object needs at least one reference of a byte, and about a dozen reads go to an object.
    private static let looksPerByte = 32

    private let list: BinaryPropertyList
    private let objects: [Int]
    private let path: String
    private let makeFailure: Failure
    private let lookMax: Int
    private var looks = 0
    private var classNames: [Int: String] = [:]
    /// The texts of dictionary keys, by number. All objects of a class share them.
    private var keys: [Int: String] = [:]
    private var top: [String: Int] = [:]

    package init(_ bytes: [UInt8], path: String, failure makeFailure: @escaping Failure) throws {
        self.path = path
        self.makeFailure = makeFailure
        func failure(_ reason: String) -> any Error { makeFailure("\(path): \(reason).") }
        lookMax = max(Self.lookMin, bytes.count * Self.looksPerByte)
        do {
            list = try BinaryPropertyList(bytes)
            guard case .dictionary(let pairs) = try list.object(list.root) else { throw failure("is not a keyed archive") }
            var parts: [String: Int] = [:]
            for pair in pairs {
                if case .text(let key) = try list.object(pair.key) { parts[key] = pair.value }
            }
            guard let archiver = parts["$archiver"], case .text("NSKeyedArchiver") = try list.object(archiver),
                let listed = parts["$objects"], case .array(let objects) = try list.object(listed),
                let top = parts["$top"], case .dictionary(let roots) = try list.object(top)
            else { throw failure("is not a keyed archive") }
            self.objects = objects
            for pair in roots {
                if case .text(let key) = try list.object(pair.key) { self.top[key] = pair.value }
            }
        } catch let damage as BinaryPropertyList.Damage {
            throw failure("\(damage.reason), at byte \(damage.offset)")
        }
    }

    package func failure(_ reason: String) -> any Error { makeFailure("\(path): \(reason).") }

    package func rootNumber() throws -> Int {
        guard let root = top["root"] else { throw failure("has no root object") }
        return root
    }

    /// The archived root object.
    package func root() throws -> Object {
        guard let object = try object(at: try rootNumber()) else { throw failure("has no root object") }
        return object
    }

    private func look(_ number: Int) throws -> BinaryPropertyList.Object {
        looks += 1
        guard looks <= lookMax else { throw failure("refers to its own parts without end") }
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
            throw failure("\(error.reason), at byte \(error.offset)")
        }
    }

    /// Follows a reference into the archive's objects. Returns nil for `$null`.
    fileprivate func value(at number: Int) throws -> (value: BinaryPropertyList.Object, number: Int)? {
        var found = try look(number), number = number
        if case .reference(let index) = found {
            // Index 0 is the archive's null. A text "$null" elsewhere is a text.
            guard index > 0 else { return nil }
            guard index < objects.count else { throw failure("refers to object \(index) of \(objects.count)") }
            number = objects[index]
            found = try look(number)
        }
        if case .null = found { return nil }
        return (found, number)
    }

    package func object(at number: Int) throws -> Object? {
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
    package func has(_ key: String) -> Bool { values[key] != nil }

    package func object(_ key: String) throws -> KeyedArchive.Object? { try values[key].flatMap { try archive.object(at: $0) } }

    /// A string, stored directly or in the object as which a mutable string is archived.
    package func text(_ key: String) throws -> String? { try values[key].flatMap { try archive.text(at: $0) } }

    /// The value under a key. If it is an object, its parts are not read.
    package func scalar(_ key: String) throws -> BinaryPropertyList.Object? {
        try values[key].flatMap { try archive.value(at: $0)?.value }
    }

    package func integer(_ key: String) throws -> Int64? {
        switch try scalar(key) {
        case .integer(let value): return value
        case .bool(let flag): return flag ? 1 : 0
        default: return nil
        }
    }

    package func flag(_ key: String) throws -> Bool { try integer(key).map { $0 != 0 } ?? false }

    /// A plain value, or the value of an archived Foundation object: a number, a text, a date, data, a UUID or a URL.
    package func plain(_ key: String) throws -> Any? { try values[key].flatMap { try archive.plain(at: $0) } }

    /// The members of an array or a set. Each is read on request.
    package func members(_ key: String) throws -> [KeyedArchive.Member] {
        guard let collection = try object(key) else { return [] }
        return try collection.list("NS.objects").map { KeyedArchive.Member(number: $0, archive: archive) }
    }

    /// Bytes, stored directly or in the object as which they are archived.
    package func data(_ key: String) throws -> Data? { try plain(key) as? Data }

    /// The values of a dictionary whose keys are texts, sorted by key.
    package func entries(_ key: String) throws -> [(key: String, value: KeyedArchive.Member)] {
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
    package struct Member {
        fileprivate let number: Int
        fileprivate let archive: KeyedArchive

        package func object() throws -> Object? { try archive.object(at: number) }
        package func text() throws -> String? { try archive.text(at: number) }
        package func plain() throws -> Any? { try archive.plain(at: number) }
        /// The members, if this member is an array.
        package func members() throws -> [Member] {
            guard case .array(let numbers)? = try object()?.scalar("NS.objects") else { return [] }
            return numbers.map { Member(number: $0, archive: archive) }
        }
    }

    /// The names of all classes in the archive.
    package func namedClasses() throws -> Set<String> {
        var names: Set<String> = []
        for number in objects {
            guard case .dictionary(let pairs) = try look(number) else { continue }
            for pair in pairs {
                if case .text("$classname") = try look(pair.key), case .text(let name) = try look(pair.value) { names.insert(name) }
            }
        }
        return names
    }

    fileprivate func text(at number: Int) throws -> String? {
        guard let found = try value(at: number) else { return nil }
        if case .text(let text) = found.value { return text }
        guard case .text(let inner)? = try object(at: number)?.scalar("NS.string") else { return nil }
        return inner
    }

    package func plain(at number: Int) throws -> Any? {
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
