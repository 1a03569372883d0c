/// The way back from one ascending component to its value. nil for null, and for a component of another type.
extension KeyBuilder {
    private static func word(_ component: [UInt8]) -> UInt64? {
        guard component.count == wordSize, component[0] == valueTag else { return nil }
        return component.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
    }

    package static func int64(_ component: [UInt8]) -> Int64? { word(component).map { Int64(bitPattern: $0 ^ (1 << 63)) } }

    /// Zero for minus zero; nil for NaN too.
    package static func double(_ component: [UInt8]) -> Double? {
        guard let word = word(component), word != 0 else { return nil }
        return Double(bitPattern: word >> 63 == 1 ? word & ~(1 << 63) : ~word)
    }

    package static func reference(_ component: [UInt8]) -> RowReference? { word(component).map(RowReference.init(rawValue:)) }

    package static func uuid(_ component: [UInt8]) -> [UInt8]? {
        component.count == 17 && component[0] == valueTag ? Array(component.dropFirst()) : nil
    }

    /// The bytes of a text or of data; nil also for the start of a text, which has no end.
    package static func bytes(_ component: [UInt8]) -> [UInt8]? {
        guard component.count >= 2, component[0] == valueTag, component[component.count - 1] == 0 else { return nil }
        var bytes: [UInt8] = [], isEscaped = false
        for byte in component[1..<(component.count - 1)] {
            if isEscaped { bytes.append(byte - 1) } else if byte != 1 { bytes.append(byte) }
            isEscaped = !isEscaped && byte == 1
        }
        return bytes
    }
}
