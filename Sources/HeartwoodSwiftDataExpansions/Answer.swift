/// An error that the compiler shows at a place of the user's file.
struct Diagnostic: Equatable {
    let message: String
    let fileName: String
    /// Bytes from the file's begin.
    let offset: Int
}

/// What a macro becomes: text, or none where a diagnostic says why.
struct Answer {
    var source: String?
    var diagnostics: [Diagnostic] = []

    var encoded: [UInt8] {
        var json = JSONText()
        json.raw("{\"expandMacroResult\":{\"expandedSource\":")
        if let source { json.string(source) } else { json.raw("null") }
        json.raw(",\"diagnostics\":[")
        for (index, diagnostic) in diagnostics.enumerated() {
            json.raw(index == 0 ? "{\"message\":" : ",{\"message\":")
            json.string(diagnostic.message)
            json.raw(",\"severity\":\"error\",\"position\":{\"fileName\":")
            json.string(diagnostic.fileName)
            json.raw(",\"offset\":\(diagnostic.offset)},\"highlights\":[],\"notes\":[],\"fixIts\":[]}")
        }
        json.raw("]}}")
        return json.bytes
    }
}

/// JSON as it is written.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    mutating func raw(_ text: String) { bytes += text.utf8 }

    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in Array(text.utf8) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0..<0x20: raw("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
