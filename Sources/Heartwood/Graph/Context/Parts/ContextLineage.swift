/// A context's relation to its coordinator, its tree and its followers.
struct ContextLineage {
    /// The coordinator of a root context; nil in a child.
    var ownCoordinator: NSPersistentStoreCoordinator?
    /// The number of the tree's renames that this context has adopted.
    var keysSeen = 0
    /// Whether saves of other contexts are merged into this one.
    var isFollowing = false
    /// The fetched results controllers that follow this context; nil if there never was one.
    var resultsFollowers: ResultsFollowers?
}
