/// The kinds of value that one attribute has before or after a change.
enum ValueState: Int, CaseIterable {
    case absent, empty, short, other
    /// More than 255 bytes if the type has a length, so that end offsets take two bytes.
    case long
    /// More than 65,535 bytes, so that end offsets take four bytes.
    case huge
    /// Characters of several bytes, a zero byte, the least number.
    case extreme
    /// The initial value of an object: the default value.
    case initial

    /// The states that a test sets.
    static let settable = allCases.filter { $0 != .initial }
}
