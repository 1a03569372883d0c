extension [NSManagedObject] {
    /// The same array as one of another type, without a look at each object.
    /// - Precondition: `Other` is a class, and each object is of it.
    @inline(__always)
    func unchecked<Other>(as type: Other.Type) -> [Other] {
        assert(Other.self is AnyClass && allSatisfy { $0 is Other })
        return unsafeBitCast(self, to: [Other].self)
    }
}
