import Foundation
import Synchronization

/// Tells observers that one object is about to change: a property set, a refresh, a deletion.
///
/// It does what Combine's publisher of the same use does, without Combine. Observers are called on the thread that makes the
/// change, before it is made.
public final class ObjectWillChangePublisher: Sendable {
    private struct State {
        var next = 0
        var observers: [(id: Int, body: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Calls `body` before each change, until the observation is cancelled or nobody holds it any more.
    /// - Parameter body: takes nothing that it could look at, as with Combine's.
    public func sink(receiveValue body: @escaping (()) -> Void) -> ObjectObservation { observe { body(()) } }

    /// The same for a function without a parameter.
    @_disfavoredOverload
    public func sink(receiveValue body: @escaping () -> Void) -> ObjectObservation { observe(body) }

    private func observe(_ body: @escaping () -> Void) -> ObjectObservation {
        // The object belongs to one queue, and so does whoever observes it.
        nonisolated(unsafe) let body = body
        let id = state.withLock { state in
            state.next += 1
            state.observers.append((state.next, { body() }))
            return state.next
        }
        return ObjectObservation { [weak self] in self?.remove(id) }
    }

    /// An element before each change; changes that come while nobody waits count as one.
    public var values: AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.next += 1
                state.observers.append((state.next, { continuation.yield() }))
                return state.next
            }
            continuation.onTermination = { [weak self] _ in self?.remove(id) }
        }
    }

    /// Says that the object is about to change; for code that changes what observers see of an object in ways of its own.
    public func send() {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.body() }
    }

    private func remove(_ id: Int) {
        state.withLock { $0.observers.removeAll { $0.id == id } }
    }
}

#if !canImport(Combine)
    /// Combine's name of what tells that an object is about to change.
    public typealias ObservableObjectPublisher = ObjectWillChangePublisher
#endif

/// Ends an observation when it is cancelled or let go.
public final class ObjectObservation: Hashable, Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }

    /// Ends the observation. Calling it again does nothing.
    public func cancel() { end() }

    /// Keeps the observation in a set, as long as the set lives.
    public func store(in set: inout Set<ObjectObservation>) { set.insert(self) }

    public static func == (a: ObjectObservation, b: ObjectObservation) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension NSManagedObject {
    public typealias ObjectWillChangePublisher = Heartwood.ObjectWillChangePublisher

    /// Tells before each change of this object. It costs nothing for objects that nobody has asked it of.
    public final var objectWillChange: ObjectWillChangePublisher {
        let storage = ownStorage()
        if let known = storage.publisher { return known }
        let made = ObjectWillChangePublisher()
        storage.publisher = made
        return made
    }
}
