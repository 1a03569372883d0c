#if canImport(ObjectiveC)
    import ObjectiveC
#endif

/// Code for Core Data says `NSManagedObject(entity: entity, insertInto: context) as? Plant`, and gets an object of the entity's class. An initializer of
/// a Swift class makes an object of the class that is named, and one of a protocol, which may hand over another object, is also what `super.init` of a
/// direct subclass finds, so that none of those would compile. So the object itself goes over to its entity's class.
///
/// Invariants:
/// 1. Only an object that is exactly an `NSManagedObject` goes over, and only in its initializer, before any code of the program sees it.
/// 2. The new class is below `NSManagedObject` and its objects have the same size: it has no stored property, so that nothing is left to initialize.
/// 3. The function that does it is never inlined: no optimizer sees the object with both classes.
extension NSManagedObject {
    /// Gives an object that was made as a plain `NSManagedObject` its entity's class.
    /// - Precondition: the class has no stored properties of its own.
    /// Source: https://developer.apple.com/documentation/coredata/nsmanagedobject/init(entity:insertinto:)
    @inline(never)
    final func takeEntityClass(_ objectClass: NSManagedObject.Type) {
        guard type(of: self) == NSManagedObject.self, objectClass != NSManagedObject.self else { return }
        precondition(
            Self.instanceSize(of: objectClass) == Self.instanceSize(of: NSManagedObject.self),
            "\(objectClass) has stored properties of its own, which NSManagedObject(entity:insertInto:) cannot initialize off Apple's platforms. Write "
                + "\(objectClass)(entity: entity, insertInto: context) or NSEntityDescription.insertNewObject(forEntityName:into:).")
        #if canImport(ObjectiveC)
            object_setClass(self, objectClass)
        #else
            // An object begins with the pointer to its class's metadata.
            Unmanaged.passUnretained(self).toOpaque().storeBytes(of: unsafeBitCast(objectClass, to: UnsafeRawPointer.self), as: UnsafeRawPointer.self)
        #endif
    }

    private static func instanceSize(of type: NSManagedObject.Type) -> Int {
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
