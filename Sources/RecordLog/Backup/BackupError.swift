/// An error of a backup, a restore or a destination, with a stable code, the location, and a remedy. Errors of the store itself are
/// `StoreError`.
public struct BackupError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The name of an object, or the path of a restored store, is taken.
        case exists
        /// No object has the name.
        case notFound
        /// The archives do not reach the commit or the time that was asked for.
        case notCovered
        /// An archive's bytes are not those that were written.
        case damaged
        /// An object is no log archive, or belongs to another store.
        case foreign
        /// The destination has another line of commits than the store, under the same lineage.
        case diverged
        /// A newer Heartwood wrote the archive.
        case newerVersion
        /// The destination did not answer, or not in time. A later attempt may succeed.
        case unreachable
        /// The destination does not permit the operation.
        case refused
        /// The destination has no room.
        case full
        /// Another backup, restore or prune is at work there.
        case busy
        /// A caller gave a value that is not possible.
        case invalidArgument
    }

    public var code: Code
    /// The destination's description and the object's name, or the path of a file.
    public var location: String
    /// The offset in the object, in bytes; nil if the error is not about one location.
    public var offset: UInt64?
    public var message: String
    /// The action that the user can take.
    public var remedy: String
    /// The newest commit that a restore can bring back in place of the one that was asked for; nil if there is none, and for other errors.
    public var available: UInt64?

    public init(_ code: Code, _ location: String, at offset: UInt64? = nil, _ message: String, remedy: String) {
        self.code = code
        self.location = location
        self.offset = offset
        self.message = message
        self.remedy = remedy
    }

    /// One line: location, offset, message, remedy.
    public var description: String {
        let place = offset.map { " (at byte \($0))" } ?? ""
        return "\(location): \(message)\(place). \(remedy)"
    }

    /// Whether a later attempt may succeed without a change by the user.
    public var isTemporary: Bool { code == .unreachable || code == .full || code == .refused || code == .busy }
}
