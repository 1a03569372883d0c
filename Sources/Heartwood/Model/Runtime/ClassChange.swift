#if canImport(ObjectiveC)
    import ObjectiveC
#endif

/// Has an object go over to a subclass of its class. Off Apple's platforms a class that is known at run time alone makes an object only by an
/// initializer that all subclasses have to state (`required`), which would refuse code that compiles for Apple's.
///
/// Invariants:
/// 1. Only an object that was just made goes over, and that no code of the program has seen.
/// 2. The new class is below the old one and its objects have the same size: it has no stored property, so that nothing is left to initialize.
/// 3. The function that does it is never inlined: no optimizer sees the object with both classes.
enum ClassChange {
    /// Whether the class is below the other and has no stored properties of its own.
    static func isPossible(from old: AnyClass, to new: AnyClass) -> Bool {
        var ancestor: AnyClass? = new
        while let known = ancestor, known != old { ancestor = _getSuperclass(known) }
        return ancestor != nil && instanceSize(of: new) == instanceSize(of: old)
    }

    /// - Precondition: `isPossible` from the object's class.
    @inline(never)
    static func change(_ object: AnyObject, to new: AnyClass) {
        #if canImport(ObjectiveC)
            object_setClass(object, new)
        #else
            // An object begins with the pointer to its class's metadata.
            Unmanaged.passUnretained(object).toOpaque().storeBytes(of: unsafeBitCast(new, to: UnsafeRawPointer.self), as: UnsafeRawPointer.self)
        #endif
    }

    private static func instanceSize(of type: AnyClass) -> Int {
        #if canImport(ObjectiveC)
            class_getInstanceSize(type)
        #else
            // Where Swift has no Objective-C, a class's metadata is its kind, its superclass, its flags and where an instance begins, then this.
            // Source: https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst, "Class Metadata"
            Int(unsafeBitCast(type, to: UnsafeRawPointer.self).load(
                fromByteOffset: 2 * MemoryLayout<UnsafeRawPointer>.size + 2 * MemoryLayout<UInt32>.size, as: UInt32.self))
        #endif
    }
}
