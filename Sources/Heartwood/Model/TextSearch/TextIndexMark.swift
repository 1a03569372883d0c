import Foundation

/// The mark of an attribute that has a text index, for models that are made in Xcode, whose editor has no such index.
package enum TextIndexMark {
    /// The key in the attribute's `userInfo`. A text that is true, such as YES, 1 or true, makes a text index over the attribute.
    package static let key = "com.heartwood.textIndex"

    static func isSet(_ property: NSPropertyDescription) -> Bool {
        guard property is NSAttributeDescription, let value = property.userInfo?[key] else { return false }
        if let flag = value as? Bool { return flag }
        return (value as? NSString)?.boolValue ?? (value as? String).map { ["yes", "true", "1"].contains($0.lowercased()) } ?? false
    }

    /// The name of the fetch index.
    static func indexName(_ attribute: String) -> String { "text:\(attribute)" }
}
