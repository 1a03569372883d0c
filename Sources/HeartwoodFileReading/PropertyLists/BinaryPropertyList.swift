import Foundation

/// A reader of binary property lists that reads one object at a time and keeps the references (UIDs) of keyed archives.
///
/// Foundation returns UIDs in a private class, so this type reads the bytes itself. Objects refer to each other by number, and an object is
/// read only on request. So nothing here recurses, and each count is compared with the file's length before it is used.
/// Layout: "bplist00", objects, a table of their offsets, and a trailer of 32 bytes.
/// Source: CFBinaryPList.c of swift-corelibs-foundation, https://github.com/swiftlang/swift-corelibs-foundation
package struct BinaryPropertyList {
    package enum Object {
        case null
        case bool(Bool)
        case integer(Int64)
        case real(Double)
        /// Seconds since 2001-01-01.
        case date(Double)
        case data(Data)
        case text(String)
        case reference(Int)
        case array([Int])
        /// The numbers of the keys and values.
        case dictionary([(key: Int, value: Int)])
    }

    /// A fault in the file, with its offset.
    package struct Damage: Error {
        package let reason: String
        package let offset: Int
    }

    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let tableStart: Int
    package let count: Int
    package let root: Int

    package static let magic = Array("bplist00".utf8)
    private static let trailerSize = 32

    package init(_ bytes: [UInt8]) throws(Damage) {
        self.bytes = bytes
        guard bytes.count >= Self.magic.count + Self.trailerSize, bytes.starts(with: Self.magic) else {
            throw Damage(reason: "is not a binary property list", offset: 0)
        }
        let trailer = bytes.count - Self.trailerSize
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let numbers = (0..<3).map { Self.number(bytes, at: trailer + 8 + $0 * 8, size: 8) }
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), numbers[0] > 0, numbers[0] <= UInt64(trailer),
            numbers[1] < numbers[0], numbers[2] >= UInt64(Self.magic.count), numbers[2] <= UInt64(trailer),
            numbers[0] <= (UInt64(trailer) - numbers[2]) / UInt64(offsetSize)
        else { throw Damage(reason: "has a trailer that does not fit its length", offset: trailer) }
        count = Int(numbers[0])
        root = Int(numbers[1])
        tableStart = Int(numbers[2])
    }

    package func object(_ number: Int) throws(Damage) -> Object {
        guard number >= 0, number < count else { throw Damage(reason: "refers to object \(number) of \(count)", offset: tableStart) }
        let offset = Self.number(bytes, at: tableStart + number * offsetSize, size: offsetSize)
        guard offset >= UInt64(Self.magic.count), offset < UInt64(tableStart) else {
            throw Damage(reason: "has an object outside the file", offset: tableStart + number * offsetSize)
        }
        let at = Int(offset)
        let low = Int(bytes[at] & 0x0F)
        switch bytes[at] >> 4 {
        case 0x0:
            switch low {
            case 0x0: return .null
            case 0x8: return .bool(false)
            case 0x9: return .bool(true)
            default: throw Damage(reason: "has an object of an unknown kind", offset: at)
            }
        case 0x1: return .integer(try integer(at, low))
        case 0x2: return .real(try real(at, low))
        case 0x3: return .date(try real(at, 3))
        case 0x4: return .data(Data(try take(at, low, size: 1)))
        case 0x5: return .text(String(decoding: try take(at, low, size: 1), as: UTF8.self))
        case 0x6:
            let units = try take(at, low, size: 2)
            return .text(String(decoding: stride(from: units.startIndex, to: units.endIndex, by: 2).map {
                UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
            }, as: UTF16.self))
        case 0x8:
            guard low < 8, at + 1 + low + 1 <= tableStart else { throw Damage(reason: "has a reference that is cut off", offset: at) }
            guard let number = Int(exactly: Self.number(bytes, at: at + 1, size: low + 1)) else {
                throw Damage(reason: "has a reference out of bounds", offset: at)
            }
            return .reference(number)
        case 0xA: return .array(try references(try take(at, low, size: referenceSize), at))
        // No writer makes sets. Foundation's reader accepts them, and ends the process if a member cannot be hashed.
        case 0xC: throw Damage(reason: "has a set, which property lists never have", offset: at)
        case 0xD:
            let all = try references(try take(at, low, size: 2 * referenceSize), at)
            let half = all.count / 2
            return .dictionary((0..<half).map { (all[$0], all[half + $0]) })
        default: throw Damage(reason: "has an object of an unknown kind", offset: at)
        }
    }

    /// Checks that every object can be read and that no object contains itself or is nested too deep: Foundation's reader recurses for each level.
    /// - Throws: if Foundation's reader must not get the list. An object with several parents counts once for each; `visitMax` limits the total.
    package func checkShape(depthMax: Int = 64, visitMax: Int = 1_000_000) throws(Damage) {
        var open: [(object: Int, depth: Int)] = [(root, 0)], visits = 0
        while let (number, depth) = open.popLast() {
            visits += 1
            guard depth <= depthMax, visits <= visitMax else { throw Damage(reason: "has objects nested too deep", offset: tableStart) }
            switch try object(number) {
            case .array(let members): for member in members { open.append((member, depth + 1)) }
            case .dictionary(let pairs):
                for pair in pairs {
                    guard case .text = try object(pair.key) else { throw Damage(reason: "has a key that is no text", offset: tableStart) }
                    open.append((pair.value, depth + 1))
                }
            case .reference: throw Damage(reason: "has a reference of a keyed archive", offset: tableStart)
            default: break
            }
            guard open.count <= visitMax else { throw Damage(reason: "has too many objects", offset: tableStart) }
        }
    }

    // MARK: Parts

    private static func number(_ bytes: [UInt8], at: Int, size: Int) -> UInt64 {
        var result: UInt64 = 0
        for index in at..<at + size { result = result << 8 | UInt64(bytes[index]) }
        return result
    }

    private func integer(_ at: Int, _ low: Int) throws(Damage) -> Int64 {
        guard low <= 4, at + 1 + (1 << low) <= tableStart else { throw Damage(reason: "has a number that is cut off", offset: at) }
        // A sixteen-byte integer is a value that does not fit in a signed 64-bit one. The lower half is enough for every number in a model.
        let size = min(1 << low, 8)
        return Int64(bitPattern: Self.number(bytes, at: at + 1 + (1 << low) - size, size: size))
    }

    private func real(_ at: Int, _ low: Int) throws(Damage) -> Double {
        guard low == 2 || low == 3, at + 1 + (1 << low) <= tableStart else {
            throw Damage(reason: "has a number that is cut off", offset: at)
        }
        let bits = Self.number(bytes, at: at + 1, size: 1 << low)
        return low == 2 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
    }

    /// The contents of an object that states its number of units.
    private func take(_ at: Int, _ low: Int, size: Int) throws(Damage) -> ArraySlice<UInt8> {
        var start = at + 1
        var units = low
        if low == 0xF {
            guard start < tableStart, bytes[start] >> 4 == 1, bytes[start] & 0x0F <= 3 else {
                throw Damage(reason: "has an invalid length", offset: at)
            }
            let declared = try integer(start, Int(bytes[start] & 0x0F))
            start += 1 + (1 << Int(bytes[start] & 0x0F))
            guard declared >= 0, declared <= Int64(bytes.count) else { throw Damage(reason: "has a length beyond its end", offset: at) }
            units = Int(declared)
        }
        guard start <= tableStart, units <= (tableStart - start) / size else {
            throw Damage(reason: "has a length beyond its end", offset: at)
        }
        return bytes[start..<start + units * size]
    }

    private func references(_ part: ArraySlice<UInt8>, _ at: Int) throws(Damage) -> [Int] {
        var result: [Int] = []
        result.reserveCapacity(part.count / referenceSize)
        for offset in stride(from: part.startIndex, to: part.endIndex, by: referenceSize) {
            guard let number = Int(exactly: Self.number(bytes, at: offset, size: referenceSize)) else {
                throw Damage(reason: "has a reference out of bounds", offset: at)
            }
            result.append(number)
        }
        return result
    }
}
