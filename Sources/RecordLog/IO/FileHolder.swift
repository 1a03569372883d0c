/// A process that has a file open or locked, according to the system.
public struct FileHolder: Sendable, Equatable, CustomStringConvertible {
    public var process: Int32
    /// The process's name, which it can set freely; nil if it cannot be read.
    public var name: String?

    /// "process 123 (heartwood)".
    public var description: String { "process \(process)" + (name.map { " (\($0))" } ?? "") }
}
