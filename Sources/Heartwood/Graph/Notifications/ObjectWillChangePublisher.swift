import Foundation
import Synchronization

/// Notifies observers that one object is about to change: a property set, a refresh, a deletion.
///
/// Replaces the Combine publisher of the same use. It calls observers on the thread that makes the change, before the change.
public final class ObjectWillChangePublisher: Sendable {
    private struct State {
        var next = 0
        var observers: [(id: Int, body: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Calls `body` before each change, until the observation is cancelled or released.
    /// - Parameter body: takes an empty value, as with Combine's publisher.
    public func sink(receiveValue body: @escaping (()) -> Void) -> ObjectObservation { observe { body(()) } }

    /// The same for a function without a parameter.
    @_disfavoredOverload
    public func sink(receiveValue body: @escaping () -> Void) -> ObjectObservation { observe(body) }

    private func observe(_ body: @escaping () -> Void) -> ObjectObservation {
        // The object belongs to one queue, and so do its observers.
        nonisolated(unsafe) let body = body
        let id = state.withLock { state in
            state.next += 1
            state.observers.append((state.next, { body() }))
            return state.next
        }
        return ObjectObservation { [weak self] in self?.remove(id) }
    }

    /// Gives an element before each change. Changes during which no task waits count as one.
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

    /// Notifies the observers. Call it before you change something that observers see and this library does not know.
    public func send() {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.body() }
    }

    private func remove(_ id: Int) {
        state.withLock { $0.observers.removeAll { $0.id == id } }
    }
}

#if !canImport(Combine)
    /// Combine's name of the publisher that reports an object's changes.
    public typealias ObservableObjectPublisher = ObjectWillChangePublisher
#endif

/// Ends an observation when it is cancelled or released.
public final class ObjectObservation: Hashable, Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }

    /// Ends the observation. Calling it again does nothing.
    public func cancel() { end() }

    /// Stores the observation in a set, which keeps it alive.
    public func store(in set: inout Set<ObjectObservation>) { set.insert(self) }

    public static func == (a: ObjectObservation, b: ObjectObservation) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension NSManagedObject {
    public typealias ObjectWillChangePublisher = Heartwood.ObjectWillChangePublisher

    /// Notifies before each change of this object by the program; for a merge or a refresh, when the object has its new values. It costs
    /// nothing for objects for which it was never read.
    public final var objectWillChange: ObjectWillChangePublisher {
        let storage = ownStorage()
        if let known = storage.publisher { return known }
        let made = ObjectWillChangePublisher()
        storage.publisher = made
        return made
    }
}
