/// Resolves types in the target's sources for mangling.
struct TypeResolver {
    private let declared: [[String]: ManagedPropertyScanner.Declared]

    /// - Parameter generated: names of the classes that are generated from the model.
    init(_ types: [ManagedPropertyScanner.Declared], generated: [String]) {
        var all: [[String]: ManagedPropertyScanner.Declared] = [:]
        for name in generated { all[[name]] = .init(path: [name], kind: "C", access: .public) }
        for type in types { all[type.path] = type }
        declared = all
    }

    /// Returns a type of the target with its enclosing types; nil where the target does not declare this path.
    func local(_ path: [String]) -> [SymbolMangler.TypeName.Part]? {
        var parts: [SymbolMangler.TypeName.Part] = []
        for count in 1...max(path.count, 1) {
            guard let type = declared[Array(path.prefix(count))], let kind = type.kind, let name = path.prefix(count).last
            else { return nil }
            parts.append(.init(name: name, kind: kind))
        }
        return parts
    }

    /// Returns the access of a type, limited by that of its enclosing types.
    func access(_ path: [String]) -> ManagedPropertyScanner.Access {
        (1...max(path.count, 1)).compactMap { declared[Array(path.prefix($0))]?.access }.min() ?? .internal
    }

    private static let standard: [String: Character] = [
        "String": "S", "Int": "i", "UInt": "u", "Double": "d", "TimeInterval": "d", "Float": "f", "Bool": "b",
    ]
    private static let modules: [(names: Set<String>, module: String, kind: Character)] = [
        (["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"], "Swift", "V"),
        (
            [
                "Date", "Data", "UUID", "URL", "Decimal", "AttributedString", "Calendar", "DateComponents", "DateInterval", "IndexPath",
                "Locale", "TimeZone", "URLComponents", "URLQueryItem",
            ], "FoundationEssentials", "V"
        ),
        (
            ["CGFloat", "CGPoint", "CGRect", "CGSize", "CharacterSet", "IndexSet", "Notification", "PersonNameComponents"],
            "Foundation", "V"
        ),
        (
            [
                "NSObject", "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSData", "NSURL", "NSUUID", "NSSet", "NSMutableSet",
                "NSOrderedSet", "NSMutableOrderedSet", "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary",
                "NSAttributedString", "NSMutableAttributedString", "NSIndexSet", "NSMutableIndexSet", "NSMutableData",
                "NSMutableString", "NSCountedSet", "NSCalendar", "NSDateComponents", "NSDateInterval", "NSError", "NSLocale", "NSNull",
                "NSPersonNameComponents", "NSTimeZone", "NSURLComponents", "NSValue",
            ], "Foundation", "C"
        ),
        (["NSManagedObject", "NSManagedObjectID"], "Heartwood", "C"),
    ]

    /// - Parameters:
    ///   - text: the type, without spaces.
    ///   - owner: the type that contains the text, whose nested types are visible.
    /// - Returns: nil for an unknown type.
    func resolve(_ text: String, in owner: [String], module: String) -> SymbolMangler.TypeName? {
        func inner(_ text: Substring) -> SymbolMangler.TypeName? { resolve(String(text), in: owner, module: module) }
        if text.hasSuffix("?") || text.hasSuffix("!") { return inner(text.dropLast()).map { .optional($0) } }
        if text.hasPrefix("["), text.hasSuffix("]") {
            let parts = Self.split(text.dropFirst().dropLast(), at: ":")
            if parts.count == 1 { return inner(parts[0]).map { .array($0) } }
            guard parts.count == 2, let key = inner(parts[0]), let value = inner(parts[1]) else { return nil }
            return .dictionary(key, value)
        }
        if let open = text.firstIndex(of: "<"), text.hasSuffix(">") {
            let arguments = Self.split(text[text.index(after: open)...].dropLast(), at: ",").map(inner)
            switch (String(text[..<open]), arguments.count) {
            case ("Set", 1): return arguments[0].map { .set($0) }
            case ("Array", 1): return arguments[0].map { .array($0) }
            case ("Optional", 1): return arguments[0].map { .optional($0) }
            case ("Dictionary", 2):
                guard let key = arguments[0], let value = arguments[1] else { return nil }
                return .dictionary(key, value)
            default: return nil
            }
        }
        if text == "Any" { return .any }
        if text == "AnyObject" { return .anyObject }
        return named(text.split(separator: ".").map(String.init), in: owner, module: module)
    }

    /// Writes the target's types in a text with their enclosing types. An extension of a nested type does not see that type's siblings.
    /// - Parameters:
    ///   - text: the type, without spaces.
    ///   - owner: the type that contains the text.
    func qualifying(_ text: String, in owner: [String]) -> String {
        guard owner.count > 1 else { return text }
        return SwiftNames.replacingPaths(in: text) { path in
            for depth in (1...owner.count).reversed() {
                let full = Array(owner.prefix(depth)) + path
                if local(full) != nil { return full.joined(separator: ".") }
            }
            return nil
        }
    }

    private func named(_ path: [String], in owner: [String], module: String) -> SymbolMangler.TypeName? {
        guard !path.isEmpty else { return nil }
        for depth in (0...owner.count).reversed() {
            if let parts = local(Array(owner.prefix(depth)) + path) { return .local(parts) }
        }
        if path.count > 1, path[0] == module, let parts = local(Array(path.dropFirst())) { return .local(parts) }
        let isQualified = path.count == 2 && ["Swift", "Foundation", "CoreData", "Heartwood"].contains(path[0])
        guard path.count == 1 || isQualified, let name = path.last else { return nil }
        if let letter = Self.standard[name] { return .standard(letter) }
        for known in Self.modules where known.names.contains(name) { return .known(module: known.module, name: name, kind: known.kind) }
        return nil
    }

    /// Splits at signs that are outside brackets.
    private static func split(_ text: Substring, at sign: Character) -> [Substring] {
        var parts: [Substring] = []
        var depth = 0
        var start = text.startIndex
        for index in text.indices {
            switch text[index] {
            case "[", "<", "(": depth += 1
            case "]", ">", ")": depth -= 1
            case sign where depth == 0:
                parts.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return parts + [text[start...]]
    }
}
