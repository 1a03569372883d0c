/// The type aliases that the target's sources declare, in types and outside of them.
struct TypeAliases {
    private let declared: [[String]: String]
    private let types: TypeResolver

    init(_ aliases: [ManagedPropertyScanner.Alias], types: TypeResolver) {
        declared = Dictionary(aliases.map { ($0.path, $0.type) }, uniquingKeysWith: { first, _ in first })
        self.types = types
    }

    /// A type without spaces, with what its aliases stand for in their place.
    /// - Parameters:
    ///   - owner: where it is written, whose nested aliases it may name.
    ///   - depth: how many aliases lead here; a circle of them ends.
    func expanding(_ text: String, in owner: [String], depth: Int = 0) -> String {
        guard !declared.isEmpty, depth < 16 else { return text }
        var expanded = ""
        var rest = text[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
            expanded += target(of: name.split(separator: ".").map(String.init), in: owner, depth) ?? String(name)
            rest = rest.dropFirst(name.count)
            if let sign = rest.popFirst() { expanded.append(sign) }
        }
        return expanded
    }

    private func target(of path: [String], in owner: [String], _ depth: Int) -> String? {
        guard !path.isEmpty else { return nil }
        for count in (0...owner.count).reversed() {
            let full = Array(owner.prefix(count)) + path
            if let type = declared[full] { return expanding(type, in: Array(full.dropLast()), depth: depth + 1) }
            if types.local(full) != nil { return nil }
        }
        return nil
    }
}
