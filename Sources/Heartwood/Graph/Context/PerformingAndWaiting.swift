/// A context or a coordinator: both run blocks in their turn by a method that subclasses may override.
protocol PerformingAndWaiting {
    func performAndWait(_ block: () -> Void)
}

extension PerformingAndWaiting {
    /// Runs `block` by the overridable method, which knows no results; gives what the block gives, throws what it throws.
    func resultOfPerforming<Success, Failure: Error>(_ block: () throws(Failure) -> Success) throws(Failure) -> Success {
        var result: Result<Success, Failure>?
        performAndWait { result = Result { () throws(Failure) in try block() } }
        guard let result else { preconditionFailure("\(type(of: self)).performAndWait(_:) did not run its block.") }
        return try result.get()
    }
}
