import Foundation

extension ManagedDocument {
    /// What a document is at the moment; nothing of these is an open document that is well.
    public struct State: OptionSet, Hashable, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Open, saved as far as anybody asked, and its file in its place.
        public static let normal: State = []
        /// Not open.
        public static let closed = State(rawValue: 1)
        /// Another file has taken the document's place, or an older state of it has; saving is refused. `revert(toContentsOf:)` takes that one,
        /// `save(to:for: .forMoving)` keeps this document elsewhere.
        public static let inConflict = State(rawValue: 2)
        /// The last save failed; the changes are there, and the next save tries again.
        public static let savingError = State(rawValue: 4)
        /// The document's file was removed; saving is refused. `save(to:for: .forMoving)` makes it again, here or elsewhere.
        public static let fileMissing = State(rawValue: 8)
    }

    /// What a save is for.
    public enum SaveOperation: Sendable {
        /// Makes the document's file, and opens the document. There must be none yet.
        case forCreating
        /// Writes what has changed to the document's own file.
        case forOverwriting
        /// Writes the document to a new file and goes on there; the old file keeps what was saved before. ("Save As".)
        case forMoving
        /// Writes what has changed to the document's own file, and a copy of that to a new one. ("Save To".)
        case forCopying
    }

    /// Posted on any thread when `documentState` has changed.
    public static let stateChangedNotification = Notification.Name("HeartwoodManagedDocumentStateChanged")
}

/// The errors of documents.
enum DocumentError {
    static func isOpen(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The document at \(url.path) is open already; close it first.", [NSFilePathErrorKey: url.path])
    }

    static func isClosed(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The document at \(url.path) is not open; open it first.", [NSFilePathErrorKey: url.path])
    }

    static func isMissing(_ url: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "There is no document at \(url.path). Check the URL, or make one with save(to:for: .forCreating).",
            [NSFilePathErrorKey: url.path])
    }

    static func isElsewhere(_ url: URL, _ own: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "The document's file is \(own.path), not \(url.path). To save it there, say whether it goes on there (.forMoving) or not "
                + "(.forCopying).", [NSFilePathErrorKey: url.path])
    }
}
