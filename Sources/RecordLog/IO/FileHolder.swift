/// A process that has a file open or locked, as far as the system tells.
public struct FileHolder: Sendable, Equatable, CustomStringConvertible {
    public var process: Int32
    /// The process's name, which is whatever it says; nil where it cannot be read.
    public var name: String?

    /// "process 123 (heartwood)".
    public var description: String { "process \(process)" + (name.map { " (\($0))" } ?? "") }
}
