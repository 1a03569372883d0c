import Foundation

/// An actor with a context of its own. `@ModelActor` makes an actor conform.
///
/// Source: https://developer.apple.com/documentation/swiftdata/modelactor
public protocol ModelActor: Actor {
    nonisolated var modelContainer: ModelContainer { get }
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialExecutor else {
            preconditionFailure("\(type(of: modelExecutor)) runs no jobs: an executor of a model actor conforms to SerialModelExecutor.")
        }
        return executor.asUnownedSerialExecutor()
    }

    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model with an identifier; nil for one of another class, and where the store has no such model.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as as: T.Type) -> T? { modelContext.existingModel(for: id) as? T }
}

/// An executor with a context, which its jobs use.
///
/// Source: https://developer.apple.com/documentation/swiftdata/modelexecutor
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

/// Source: https://developer.apple.com/documentation/swiftdata/serialmodelexecutor
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs the jobs of a model actor one after the other, on a queue of its own and never on the main thread, wherever the actor was made.
///
/// Source: https://developer.apple.com/documentation/swiftdata/defaultserialmodelexecutor
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    // Unchecked: only the jobs use the context, and one job runs at a time.
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "SwiftData.DefaultSerialModelExecutor", target: .global())

    public init(modelContext: ModelContext) { self.modelContext = modelContext }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { [self] in
            modelContext.takeInSaves()
            job.runSynchronously(on: executor)
        }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Called where code asserts that it runs on the actor.
    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
