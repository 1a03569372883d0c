import Heartwood

/// Names and texts in statements of SQL.
enum SQLText {
    /// A name, in quotes only where SQLite needs them: Core Data's statements have none.
    static func name(_ name: String) -> String {
        let isPlain = name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false && name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
            default: false
            }
        }
        return isPlain ? name : quoted(name)
    }

    static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
