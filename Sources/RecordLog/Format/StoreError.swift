/// An error of a store, with a stable code, the location, and a remedy.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case notAStore, unsupportedVersion, corrupt, io, noSpace, permissionDenied, isDirectory, notFound
        case locked, readOnly, poisoned, tooLarge, superseded, closed, schema, invalidArgument, exists, cancelled
        /// The newest commit is a part of a save over several stores, and the store that decides about it cannot be asked.
        case undecided
        /// The log does not have the commit that was asked for, or has it no more.
        case noSuchCommit
    }

    // One reference, so that a typed throw costs a pointer.
    private final class Details: Sendable {
        let code: Code
        let path: String
        let offset: UInt64?
        let message: String
        let remedy: String
        let systemErrno: Int32?

        init(code: Code, path: String, offset: UInt64?, message: String, remedy: String, systemErrno: Int32?) {
            self.code = code
            self.path = path
            self.offset = offset
            self.message = message
            self.remedy = remedy
            self.systemErrno = systemErrno
        }
    }

    private let details: Details

    /// For a client's own file systems; the engine makes all other errors.
    public init(_ code: Code, path: String, at offset: UInt64? = nil, _ message: String, remedy: String, errno: Int32? = nil) {
        details = Details(code: code, path: path, offset: offset, message: message, remedy: remedy, systemErrno: errno)
    }

    public var code: Code { details.code }
    /// The store's path as it was opened.
    public var path: String { details.path }
    /// The offset in the file, in bytes; nil if the error is not about one location.
    public var offset: UInt64? { details.offset }
    public var message: String { details.message }
    /// The action that the user can take.
    public var remedy: String { details.remedy }
    /// The system's error number, if a system call failed.
    public var systemErrno: Int32? { details.systemErrno }

    /// One line: path, offset, message, remedy.
    public var description: String {
        let location = offset.map { " (at byte \($0))" } ?? ""
        return "\(path): \(message)\(location). \(remedy)"
    }

    /// Whether data may be damaged or unreadable. A failed write has the code `io` too.
    var isOfReading: Bool { code == .corrupt || code == .io }

    /// The error for a commit that may have been saved all the same. `noSpace` would mean that nothing was saved and that the handle can
    /// continue, so it becomes `io`.
    var asUncertain: StoreError {
        guard code == .noSpace else { return self }
        return StoreError(
            .io, path: path, at: offset, message,
            remedy: "Free some space, then close the store and open it again: it recovers the committed rows.", errno: systemErrno)
    }

    static func replica(_ path: String) -> StoreError {
        StoreError(
            .readOnly, path: path, "the store is a replica, to which only `heartwood restore --follow` writes",
            remedy: "Open it read-only. To go on from its state run `heartwood promote \(ShellWord.quoted(path))`, which begins a line of its own.")
    }

    static func corrupt(_ path: String, at offset: UInt64?, _ message: String) -> StoreError {
        StoreError(
            .corrupt, path: path, at: offset, message,
            remedy: "Run `heartwood verify` to see how far the damage goes; restore a backup, or bring out the whole rows with `heartwood salvage`.")
    }
}
