extension Unmanaged {
    /// Calls `body` with the object and counts no reference. The caller must keep the object alive until the call returns.
    @inline(__always)
    func guaranteed<Result, Failure: Error>(_ body: (Instance) throws(Failure) -> Result) throws(Failure) -> Result {
        try _withUnsafeGuaranteedRef { instance in
            Swift.Result<Result, Failure> { () throws(Failure) in try body(instance) }
        }.get()
    }
}
