/// Ends the program because its code breaks a rule of the interface, where Core Data raises an exception. A failed `precondition` of an optimized
/// build says nothing; this always says why.
@inline(never)
func misuse(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
    fatalError(message, file: file, line: line)
}

/// Calls `misuse` unless the condition holds.
@inline(__always)
func demand(_ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) {
    if !condition { misuse(message(), file: file, line: line) }
}
