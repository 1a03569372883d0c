/// A context or a coordinator. Both run blocks serially through a method that subclasses may override.
protocol PerformingAndWaiting {
    func performAndWait(_ block: () -> Void)
}

extension PerformingAndWaiting {
    /// Runs `block` through the overridable method, which has no result; returns the block's result or throws its error.
    func resultOfPerforming<Success, Failure: Error>(_ block: () throws(Failure) -> Success) throws(Failure) -> Success {
        var result: Result<Success, Failure>?
        performAndWait { result = Result { () throws(Failure) in try block() } }
        guard let result else { misuse("\(type(of: self)).performAndWait(_:) did not run its block.") }
        return try result.get()
    }
}
