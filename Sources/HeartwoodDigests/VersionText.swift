/// The lines whose hash is the version of an entity or a property: the stack makes them of descriptions, the build plugin of a model's file.
///
/// The lines are frozen: stores have the hashes, and another hash makes a store migrate.
package enum VersionText {
    /// The statements that attributes and relationships share.
    package struct Property {
        package let name: String
        let isOptional: Bool
        let isTransient: Bool
        let modifier: String?

        package init(name: String, isOptional: Bool, isTransient: Bool, modifier: String?) {
            self.name = name
            self.isOptional = isOptional
            self.isTransient = isTransient
            self.modifier = modifier
        }

        package var lines: [String] { [name, isOptional ? "optional" : "required", isTransient ? "transient" : "", modifier ?? ""] }
    }

    package static func hash(of lines: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            // No name contains this separator, so different lists give different texts.
            if index > 0 { bytes.append(0x1F) }
            bytes.append(contentsOf: line.utf8)
        }
        return SHA256.hash(bytes)
    }

    /// - Parameters:
    ///   - properties: the lines of all properties, inherited ones included, sorted by name.
    ///   - constraints: the names in each uniqueness constraint, inherited constraints included.
    package static func entity(
        name: String, modifier: String?, isAbstract: Bool, parent: String?, properties: [[String]], constraints: [[String]]
    ) -> [String] {
        var lines = ["entity", name, modifier ?? "", isAbstract ? "abstract" : "", parent ?? ""]
        for property in properties { lines += property }
        for constraint in constraints.map({ joined($0.sorted()) }).sorted() { lines += ["unique", constraint] }
        return lines
    }

    /// Does the work of `joined(separator:)`, for which the standard library would look up types at its first call.
    private static func joined(_ names: [String]) -> String {
        var text = ""
        for (index, name) in names.enumerated() {
            if index > 0 { text += "," }
            text += name
        }
        return text
    }

    /// - Parameters:
    ///   - type: the raw value of `NSAttributeType`.
    ///   - isExternal: whether it is binary data that may be kept outside its row.
    package static func attribute(_ property: Property, type: UInt, isExternal: Bool) -> [String] {
        ["attribute"] + property.lines + ["\(type)"] + (isExternal ? ["external"] : [])
    }

    /// - Parameter derivation: the expression, as the stack prints it.
    package static func derived(_ property: Property, type: UInt, derivation: String) -> [String] {
        ["derived"] + property.lines + ["\(type)", derivation]
    }

    /// - Parameter elements: the lines of each element, sorted by name.
    package static func composite(_ property: Property, elements: [[String]]) -> [String] {
        var lines = ["composite"] + property.lines
        for element in elements { lines += element }
        return lines + ["end"]
    }

    /// - Parameter rule: the raw value of `NSDeleteRule`.
    package static func relationship(
        _ property: Property, destination: String, inverse: String?, counts: (min: Int, max: Int), rule: UInt, isOrdered: Bool
    ) -> [String] {
        ["relationship"] + property.lines
            + [destination, inverse ?? "", "\(counts.min)", "\(counts.max)", "\(rule)", isOrdered ? "ordered" : ""]
    }
}
