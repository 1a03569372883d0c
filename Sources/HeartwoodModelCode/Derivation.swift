/// The expression of a derived attribute.
enum Derivation {
    private static let functions = ["canonical", "uppercase", "lowercase"]
    /// The words that have a meaning of their own in the format language.
    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "ANY", "ALL", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "UNION",
        "INTERSECT", "MINUS", "TRUEPREDICATE", "FALSEPREDICATE", "NIL", "NULL", "TRUE", "YES", "FALSE", "NO", "SELF",
    ]

    /// Returns the expression as the stack prints it; nil for other than Xcode's documentation lists: a path, the count or sum of a
    /// relationship, a function of a path, the time.
    /// Source: https://developer.apple.com/documentation/coredata/nsderivedattributedescription
    static func printed(_ text: String) -> String? {
        if text == "now()" || isPath(text) { return text }
        for function in functions where text.hasPrefix("\(function):(") && text.hasSuffix(")") {
            if isPath(text.dropFirst(function.count + 2).dropLast()) { return text }
        }
        return nil
    }

    private static func isPath(_ text: some StringProtocol) -> Bool {
        let keys = text.split(separator: ".", omittingEmptySubsequences: false)
        return keys.enumerated().allSatisfy { index, key in
            let word = index > 0 && key.first == "@" ? key.dropFirst() : key[...]
            let isWord = word.utf8.allSatisfy { byte in
                byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
                    || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
            }
            return isWord && word.first.map { !$0.isNumber } ?? false && !reserved.contains(word.uppercased())
        }
    }
}
