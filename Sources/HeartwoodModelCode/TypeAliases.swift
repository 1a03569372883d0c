/// The type aliases in the target's sources, at the top level and in types.
struct TypeAliases {
    private let declared: [[String]: String]
    private let types: TypeResolver

    init(_ aliases: [ManagedPropertyScanner.Alias], types: TypeResolver) {
        declared = Dictionary(aliases.map { ($0.path, $0.type) }, uniquingKeysWith: { first, _ in first })
        self.types = types
    }

    /// Replaces the aliases in a type by their targets.
    /// - Parameters:
    ///   - text: the type, without spaces.
    ///   - owner: the type that contains the text, whose nested aliases are visible.
    ///   - depth: the number of aliases expanded so far; limits circular aliases.
    func expanding(_ text: String, in owner: [String], depth: Int = 0) -> String {
        guard !declared.isEmpty, depth < 16 else { return text }
        return SwiftNames.replacingPaths(in: text) { target(of: $0, in: owner, depth) }
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
