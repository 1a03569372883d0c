import Foundation
import Heartwood

/// Which models a fetch finds, in which order, and what it reads ahead.
///
/// Source: https://developer.apple.com/documentation/swiftdata/fetchdescriptor
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    // Unchecked: predicates, orders and key paths are immutable.

    public var predicate: Predicate<T>?
    public var sortBy: [SortDescriptor<T>]
    /// The number of models at most; nil for all, and 0 for none.
    public var fetchLimit: Int?
    public var fetchOffset: Int?
    public var includePendingChanges = true
    /// Accepted for the sake of sources: each property is read when it is used, so there is nothing to leave out.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// Relationships whose models are read together with those that are found.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
    /// A condition that is put together at run time, which holds together with `predicate`; see `init(predicate:sortBy:)`. An addition of Heartwood.
    public var nsPredicate: NSPredicate?
    /// An order that is put together at run time, behind `sortBy`. An addition of Heartwood.
    public var nsSortDescriptors: [NSSortDescriptor] = []
    /// A search for words, the most relevant models first unless it says otherwise. An addition of Heartwood.
    public var textSearch: TextSearch?

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

extension FetchDescriptor: Equatable {
    /// Predicates are equal if they print the same: two that a program writes twice are.
    public static func == (a: FetchDescriptor, b: FetchDescriptor) -> Bool {
        a.predicate.map { "\($0)" } == b.predicate.map { "\($0)" } && a.sortBy == b.sortBy && a.fetchLimit == b.fetchLimit
            && a.fetchOffset == b.fetchOffset && a.includePendingChanges == b.includePendingChanges
            && a.propertiesToFetch == b.propertiesToFetch && a.relationshipKeyPathsForPrefetching == b.relationshipKeyPathsForPrefetching
            && a.nsPredicate == b.nsPredicate && a.nsSortDescriptors == b.nsSortDescriptors && a.textSearch == b.textSearch
    }
}
