/// What went wrong with a store: a stable code, where, and what to do about it.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case notAStore, unsupportedVersion, corrupt, io, noSpace, permissionDenied, isDirectory, notFound
        case locked, readOnly, poisoned, tooLarge, superseded, closed, schema, invalidArgument, exists, cancelled
        /// The newest commit is a part of a save over several stores, and the one that decides about it cannot be asked.
        case undecided
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

    /// For file systems of a client's own; the engine makes the others.
    public init(_ code: Code, path: String, at offset: UInt64? = nil, _ message: String, remedy: String, errno: Int32? = nil) {
        details = Details(code: code, path: path, offset: offset, message: message, remedy: remedy, systemErrno: errno)
    }

    public var code: Code { details.code }
    /// The store's path as it was opened.
    public var path: String { details.path }
    /// Where in the file, in bytes; nil where it is not about one place.
    public var offset: UInt64? { details.offset }
    public var message: String { details.message }
    /// What the user can do.
    public var remedy: String { details.remedy }
    /// The system's error number, where a system call failed.
    public var systemErrno: Int32? { details.systemErrno }

    /// One line: path, offset, message, remedy.
    public var description: String {
        let place = offset.map { " (at byte \($0))" } ?? ""
        return "\(path): \(message)\(place). \(remedy)"
    }

    /// Whether something may be damaged, or may not be readable any more; `io` says that of a write too.
    var isOfReading: Bool { code == .corrupt || code == .io }

    /// The same of something that may have been saved for all that: `noSpace` says that nothing was, and that the handle can go on.
    var asUncertain: StoreError {
        guard code == .noSpace else { return self }
        return StoreError(
            .io, path: path, at: offset, message,
            remedy: "Free some space, then close the store and open it again: it recovers what was committed.", errno: systemErrno)
    }

    static func corrupt(_ path: String, at offset: UInt64?, _ message: String) -> StoreError {
        StoreError(
            .corrupt, path: path, at: offset, message,
            remedy: "Run `heartwood verify` to see how far the damage goes; restore a backup, or bring out what is whole with `heartwood salvage`.")
    }
}
