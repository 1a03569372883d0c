import Foundation

/// How the values of an attribute become those of another version of it, without a mapping that somebody wrote.
enum AttributeConversion: Equatable {
    /// As they are.
    case none
    /// Integers of another width. One that does not fit ends the migration.
    case integer
    /// Floats and doubles; a float has the nearest value.
    case floatingPoint
    /// Bytes that go to or come from where large values are.
    case external

    /// - Returns: nil where no value of the one is a value of the other.
    init?(from old: NSAttributeDescription, to new: NSAttributeDescription) {
        let before = PropertyKind(old), after = PropertyKind(new)
        switch (before, after) {
        case _ where before == after: self = .none
        case (.int16, _), (.int32, _), (.int64, _):
            guard [.int16, .int32, .int64].contains(after) else { return nil }
            self = .integer
        case (.float, .double), (.double, .float): self = .floatingPoint
        case (.data, .externalData), (.externalData, .data): self = .external
        default: return nil
        }
    }
}
