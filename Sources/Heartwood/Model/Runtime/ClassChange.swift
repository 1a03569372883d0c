#if canImport(ObjectiveC)
    import ObjectiveC
#endif

/// Changes an object's class to a subclass. Off Apple's platforms a class known only at run time can make an object only through a `required`
/// initializer, which every subclass would have to declare. Code that compiles for Apple's platforms would then not compile.
///
/// Invariants:
/// 1. Only a new object that no code of the program has seen changes its class.
/// 2. The new class inherits from the old one, and its objects have the same size: it has no stored property to initialize.
/// 3. The function that changes the class is never inlined: no optimizer sees the object with both classes.
enum ClassChange {
    /// Whether `new` inherits from `old` and has no stored properties of its own.
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
            // Without Objective-C a class's metadata has kind, superclass, flags, the address point of instances, then the size of instances.
            // Source: https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst, "Class Metadata"
            Int(unsafeBitCast(type, to: UnsafeRawPointer.self).load(
                fromByteOffset: 2 * MemoryLayout<UnsafeRawPointer>.size + 2 * MemoryLayout<UInt32>.size, as: UInt32.self))
        #endif
    }
}
