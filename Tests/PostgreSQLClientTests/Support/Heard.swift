import Synchronization

/// What a callback was given, on whatever thread.
final class Heard<Value: Sendable>: Sendable {
    private let list = Mutex<[Value]>([])
    func add(_ value: Value) { list.withLock { $0.append(value) } }
    var all: [Value] { list.withLock { $0 } }
}
