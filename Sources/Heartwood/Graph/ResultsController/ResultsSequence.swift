import Foundation

/// The results of a fetch request: those of now, and then those after each change of them.
///
/// It follows the context as a fetched results controller does: unsaved changes after they are processed, merged changes, undo, rollback and reset.
/// Several changes between two calls of `next()` become one element. The sequence has no end; the loop ends when its task is cancelled.
/// ```swift
/// for try await people in context.results(of: request) { show(people) }
/// ```
/// Each iterator follows by itself, on its context's queue, and only while it exists.
public struct ResultsSequence<ResultType: NSFetchRequestResult>: AsyncSequence {
    public typealias Element = [ResultType]

    let request: NSFetchRequest<any NSFetchRequestResult>
    let context: NSManagedObjectContext

    public func makeAsyncIterator() -> Iterator { Iterator(request: request, context: context) }

    public struct Iterator: AsyncIteratorProtocol {
        private let context: NSManagedObjectContext
        private let following: Following
        private var calls: AsyncStream<Void>.Iterator

        fileprivate init(request: NSFetchRequest<any NSFetchRequestResult>, context: NSManagedObjectContext) {
            self.context = context
            following = Following(request)
            calls = following.wakeUp.calls.makeAsyncIterator()
        }

        /// - Returns: nil where the task was cancelled.
        /// - Throws: as a fetch; 134091 for a request of dictionaries or counts, whose changes no controller follows.
        public mutating func next() async throws -> [ResultType]? {
            guard await calls.next() != nil else { return nil }
            let context = context, following = following
            return try await context.perform { Confined(value: try following.elements(in: context)) }.value.compactMap { $0 as? ResultType }
        }
    }
}

/// The state of an iterator on its context's queue.
private final class Following: @unchecked Sendable {
    // Unchecked: blocks of the context's queue use the request and the results.
    private let request: NSFetchRequest<any NSFetchRequestResult>
    private var followed: FollowedResults?
    let wakeUp = WakeUp()

    init(_ request: NSFetchRequest<any NSFetchRequestResult>) {
        self.request = request
        wakeUp.call()
    }

    func elements(in context: NSManagedObjectContext) throws -> [Any] {
        if let followed { return followed.elements }
        guard request.resultType == .managedObjectResultType || request.resultType == .managedObjectIDResultType else {
            throw CoreDataError.unsupported("results(of:) follows objects and IDs. Ask for one of these, and fetch the rest after each change.")
        }
        let made = try FollowedResults(request, context) { [wakeUp] in wakeUp.call() }
        followed = made
        return made.elements
    }
}

extension NSManagedObjectContext {
    /// The results of a request, now and after each change of them; see `ResultsSequence`. Later changes to the request have no effect.
    public final func results<ResultType: NSFetchRequestResult>(of request: NSFetchRequest<ResultType>) -> ResultsSequence<ResultType> {
        ResultsSequence(request: request.duplicate(as: (any NSFetchRequestResult).self), context: self)
    }
}
