@testable import RecordLog

extension LogStore {
    /// A part of the writer's state, between two writes.
    func writer<Value>(_ part: KeyPath<WriterState, Value>) -> Value {
        writerLock.hold(for: self) { $0.writer[keyPath: part] }
    }
}
