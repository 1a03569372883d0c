import Foundation
import Heartwood

/// Parses the conditions, orders and lists that users write.
enum QueryText {
    /// Parses a condition. `OpenStore.meant` reads its constants.
    /// - Throws: an error that shows the fault of a format and its position.
    static func predicate(_ format: String) throws -> NSPredicate {
        do {
            return try NSPredicate(parsing: format)
        } catch {
            throw ToolError.usage("\(error)")
        }
    }

    /// Makes a search for words. A star at the end makes the last word a prefix.
    static func search(_ words: String?, in attributes: String?, isSorted: Bool) throws -> TextSearch? {
        guard let words else { return nil }
        return TextSearch(
            words, in: list(attributes ?? ""), matchesLastWordAsPrefix: words.hasSuffix("*"), sortsByRelevance: !isSorted)
    }

    /// Parses `name,age:desc`, or `name,-age` with the same meaning; `name:localized` and the like for another text order.
    static func order(_ text: String?) -> [NSSortDescriptor] {
        list(text ?? "").map { part in
            var key = part, isAscending = true, textOrder = NSSortDescriptor.TextOrder.literal
            if key.hasPrefix("-") {
                isAscending = false
                key.removeFirst()
            }
            while let colon = key.lastIndex(of: ":") {
                switch String(key[key.index(after: colon)...]) {
                case "asc": isAscending = true
                case "desc": isAscending = false
                case let name:
                    guard let order = NSSortDescriptor.TextOrder.allCases.first(where: { "\($0)" == name }) else {
                        return NSSortDescriptor(key: key, ascending: isAscending, textOrder: textOrder)
                    }
                    textOrder = order
                }
                key = String(key[..<colon])
            }
            return NSSortDescriptor(key: key, ascending: isAscending, textOrder: textOrder)
        }
    }

    /// Splits a list at its commas, except those in brackets and quotes. No part is empty.
    static func list(_ text: String) -> [String] {
        var parts = [""]
        var depth = 0
        var quote: Unicode.Scalar?
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if let open = quote {
                if !isEscaped, scalar == open { quote = nil }
                isEscaped = !isEscaped && scalar == "\\"
            } else {
                switch scalar {
                case "'", "\"": quote = scalar
                case "(", "{", "[": depth += 1
                case ")", "}", "]": depth -= 1
                case "," where depth <= 0:
                    parts.append("")
                    continue
                default: break
                }
            }
            parts[parts.count - 1].unicodeScalars.append(scalar)
        }
        return parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

/// A column of a query's result.
struct QueryColumn {
    let name: String
    /// An element for `propertiesToFetch`.
    let property: Any

    var expression: NSExpression? { (property as? NSExpressionDescription)?.expression }

    private init(name: String, property: Any) {
        self.name = name
        self.property = property
    }

    init(path: String) { self.init(name: path, property: path) }

    /// Parses a key path, or an expression, which may have a name: `sum:(size) AS total`.
    private static func column(_ text: String) throws -> QueryColumn {
        let isPath = text.unicodeScalars.allSatisfy {
            $0 == "_" || $0 == "." || $0 == "@" || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }
        if isPath, text.unicodeScalars.first?.properties.numericType == nil { return QueryColumn(path: text) }
        var format = text, name = text
        if let range = text.range(of: #"\s[Aa][Ss]\s+[\p{L}_][\p{L}\p{N}_]*$"#, options: .regularExpression) {
            format = String(text[..<range.lowerBound])
            name = text[range].dropFirst(3).trimmingCharacters(in: .whitespaces)
        }
        let description = NSExpressionDescription()
        description.name = name
        do {
            description.expression = try NSExpression(parsing: format)
        } catch {
            throw ToolError.usage("\(error)")
        }
        return QueryColumn(name: name, property: description)
    }

    static func list(_ text: String) throws -> [QueryColumn] { try QueryText.list(text).map(column) }
}
