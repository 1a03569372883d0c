/// Goes over JSON value by value. It checks brackets and strings, not the text of numbers and words: who reads one checks it.
struct JSONScanner {
    let bytes: [UInt8]
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while position < bytes.count, bytes[position] <= 0x20 { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        position += 1
        return true
    }

    /// Skips a string from its first quote. False where it has no second one.
    mutating func skipString() -> Bool {
        guard peek == UInt8(ascii: "\"") else { return false }
        position += 1
        while let quote = SystemCalls.firstIndex(of: UInt8(ascii: "\""), in: bytes, position..<bytes.count) {
            // A quote after an odd number of backslashes is the string's own.
            var slashes = quote
            while slashes > position, bytes[slashes - 1] == UInt8(ascii: "\\") { slashes -= 1 }
            position = quote + 1
            if (quote - slashes).isMultiple(of: 2) { return true }
        }
        return false
    }

    /// Skips a value of any depth, without recursion. False where it is broken or cut off.
    mutating func skipValue() -> Bool {
        var closers: [UInt8] = []
        repeat {
            skipSpace()
            guard let byte = peek else { return false }
            switch byte {
            case UInt8(ascii: "\""): guard skipString() else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // The closer of either is its second next byte.
                closers.append(byte + 2)
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard closers.popLast() == byte else { return false }
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard !closers.isEmpty else { return false }
                position += 1
            default: skipWord()
            }
        } while !closers.isEmpty
        return true
    }

    private mutating func skipWord() {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""),
                0...0x20:
                return
            default: position += 1
            }
        }
    }

    /// Whether the string in a range, quotes included, is a key. Keys have no escapes.
    func string(_ range: Range<Int>, equals key: StaticString) -> Bool {
        guard range.count == key.utf8CodeUnitCount + 2 else { return false }
        return key.withUTF8Buffer { bytes[range.lowerBound + 1..<range.upperBound - 1].elementsEqual($0) }
    }

    // MARK: Escapes

    /// The bytes between the quotes of a string, escapes resolved. A surrogate without its other half becomes the replacement character.
    func decoded(_ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while let slash = SystemCalls.firstIndex(of: UInt8(ascii: "\\"), in: bytes, index..<range.upperBound), slash + 1 < range.upperBound {
            result += bytes[index..<slash]
            index = slash + 2
            switch bytes[slash + 1] {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "u"): result += String(scalar(at: &index, end: range.upperBound)).utf8
            case let other: result.append(other)
            }
        }
        result += bytes[index..<range.upperBound]
        return result
    }

    private func scalar(at index: inout Int, end: Int) -> Unicode.Scalar {
        guard let first = unit(at: &index, end: end) else { return "\u{FFFD}" }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(UInt32(first)) ?? "\u{FFFD}" }
        var next = index + 2
        guard next <= end, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u"), let second = unit(at: &next, end: end),
            UTF16.isTrailSurrogate(second)
        else { return "\u{FFFD}" }
        index = next
        return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)) ?? "\u{FFFD}"
    }

    private func unit(at index: inout Int, end: Int) -> UInt16? {
        guard index + 4 <= end else {
            index = end
            return nil
        }
        defer { index += 4 }
        return UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
    }
}
