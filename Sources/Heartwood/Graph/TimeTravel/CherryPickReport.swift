import Foundation

/// The effects of a cherry-pick on a store.
package struct CherryPickReport {
    /// A reason why an object, or a part of it, does not come along as it was.
    package struct Conflict {
        package enum Reason: String {
            /// The object exists today, with other values than in the past.
            case changedSince
            /// Another object has the values of a uniqueness constraint now.
            case notUnique
            /// The relationship's destination is gone, and is not among the objects that come along.
            case missingTarget
            /// The relationship's destination has another object at the other side now.
            case takenTarget
            /// The value does not fit the property, or the object would not be valid.
            case invalid
        }

        package let reason: Reason
        /// The object's URI.
        package let object: String
        /// For people: the property and the values, without the object.
        package let detail: String
    }

    /// The objects that match, as of the past commit.
    package internal(set) var found = 0
    /// URIs of objects that come back; `renumbered` has those that get another URI than they had.
    package internal(set) var inserted: [String] = []
    /// URIs of objects that get their old values, and the names of the properties.
    package internal(set) var updated: [(object: String, properties: [String])] = []
    /// The old URIs of inserted objects of another line of commits, whose number is another object's in the store, or will be.
    package internal(set) var renumbered: [String] = []
    package internal(set) var conflicts: [Conflict] = []
    /// Whether the changes were saved.
    package internal(set) var isSaved = false
}
