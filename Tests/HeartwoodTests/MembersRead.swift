@testable import Heartwood

/// Counts the stored members of to-many relationships that a context's getters read one by one, until another counter takes its place.
final class MembersRead {
    private(set) var read = 0

    init(by context: NSManagedObjectContext) {
        context.queries.membersObserver = { [self] in read += $0 }
    }
}
