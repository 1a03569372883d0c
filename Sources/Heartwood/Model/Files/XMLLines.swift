/// XML with one element a line, indented by its depth.
struct XMLLines {
    private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
    private var depth = 0

    /// Begins an element.
    mutating func open(_ name: String, _ attributes: [(name: String, value: String?)]) {
        start(name, attributes)
        text += ">\n"
        depth += 1
    }

    mutating func close(_ name: String) {
        depth -= 1
        text += "\(indentation)</\(name)>\n"
    }

    /// Adds an element without children.
    mutating func add(_ name: String, _ attributes: [(name: String, value: String?)]) {
        start(name, attributes)
        text += "/>\n"
    }

    private var indentation: String { String(repeating: "    ", count: depth) }

    private mutating func start(_ name: String, _ attributes: [(name: String, value: String?)]) {
        text += "\(indentation)<\(name)"
        for (name, value) in attributes {
            guard let value else { continue }
            text += " \(name)=\"\(Self.escaped(value))\""
        }
    }

    /// XML has no character for a control, except for line ends and the tabulator. A reader would take these for spaces if they were not escaped.
    static func escaped(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n", "\r", "\t": result += "&#\(scalar.value);"
            case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
