/// Does asynchronous work on elements, of which the next ones are begun before their results are asked for. Results come in the order of the
/// elements.
///
/// So a restore from an object store does not wait for one answer after the other. Memory holds at most `depth` results.
final class WorkAhead<Elements: IteratorProtocol, Value: Sendable> where Elements.Element: Sendable {
    private var elements: Elements
    private var tasks: [Task<Value, any Error>] = []
    private let depth: Int
    private let work: @Sendable (Elements.Element) async throws -> Value

    init(_ elements: Elements, depth: Int = 8, _ work: @escaping @Sendable (Elements.Element) async throws -> Value) {
        self.elements = elements
        self.depth = depth
        self.work = work
    }

    deinit { cancel() }

    /// The next result; nil behind the last one. A failure is that of one element: the next call goes on with the element behind it.
    func next() async throws -> Value? {
        let work = work
        while tasks.count < depth, let element = elements.next() { tasks.append(Task { try await work(element) }) }
        guard !tasks.isEmpty else { return nil }
        let task = tasks.removeFirst()
        return try await withTaskCancellationHandler { try await task.value } onCancel: { task.cancel() }
    }

    private func cancel() {
        for task in tasks { task.cancel() }
    }
}
