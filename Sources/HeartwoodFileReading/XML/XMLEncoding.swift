/// Tells whether an XML file is in UTF-8, in which all that Heartwood reads is.
enum XMLEncoding {
    /// The byte order mark.
    static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// The largest size of an XML declaration in bytes.
    private static let declarationMax = 1024

    /// The first fault, as the end of a sentence about the file.
    static func fault(in bytes: UnsafeRawBufferPointer, _ kind: String) -> (offset: Int, reason: String)? {
        // UTF-16 and UTF-32 texts contain zero bytes or start with a byte order mark, which is not valid UTF-8.
        if let zero = bytes.offset(of: 0) { return (zero, "is not in UTF-8, as \(kind) are (it has a zero byte); it was not read") }
        if let fault = UTF8Fault(in: bytes) { return (fault.offset, "is not in UTF-8, as \(kind) are (\(fault.text)); it was not read") }
        return declarationFault(in: bytes, kind).map { (0, $0) }
    }

    /// Checks `<?xml …?>`. The reader would misread a file of another encoding.
    private static func declarationFault(in bytes: UnsafeRawBufferPointer, _ kind: String) -> String? {
        let start = bytes.starts(with: mark) ? mark.count : 0
        // A declaration behind white space is refused later. It is checked nevertheless.
        let text = String(decoding: bytes[start...].prefix(declarationMax), as: UTF8.self).drop { $0.isWhitespace }
        guard text.hasPrefix("<?xml"), text.dropFirst(5).first.map({ $0.isWhitespace || $0 == "?" }) ?? true else { return nil }
        let declaration = #/
            <\?xml \s+version\s*=\s*(["'])1\.[0-9]+\1
            (?: \s+encoding\s*=\s*(["'])([A-Za-z0-9._:-]+)\2 )?
            (?: \s+standalone\s*=\s*(["'])(?:yes|no)\4 )? \s*\?>
            /#
        guard let match = text.prefixMatch(of: declaration) else { return "has an XML declaration that cannot be read" }
        guard let name = match.3, !["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased()) else { return nil }
        return "is not in UTF-8, as \(kind) are (it says that it is in \(name)); it was not read"
    }
}
