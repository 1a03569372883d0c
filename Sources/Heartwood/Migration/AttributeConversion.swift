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

extension AttributeConversion {
    /// A value of the one as a value of the other.
    /// - Returns: nil where it does not fit.
    func apply(_ value: ManagedValue, to kind: PropertyKind) -> ManagedValue? {
        switch (self, value) {
        case (.integer, .integer(let number)):
            switch kind {
            case .int16: Int16(exactly: number).map { .integer(Int64($0)) }
            case .int32: Int32(exactly: number).map { .integer(Int64($0)) }
            default: value
            }
        case (.floatingPoint, .double(let number)): kind == .float ? .double(Double(Float(number))) : value
        default: value
        }
    }
}
