extension Unmanaged {
    /// Calls `body` with the object, which somebody else keeps alive until it returns; no reference is counted.
    @inline(__always)
    func guaranteed<Result, Failure: Error>(_ body: (Instance) throws(Failure) -> Result) throws(Failure) -> Result {
        try _withUnsafeGuaranteedRef { instance in
            Swift.Result<Result, Failure> { () throws(Failure) in try body(instance) }
        }.get()
    }
}
