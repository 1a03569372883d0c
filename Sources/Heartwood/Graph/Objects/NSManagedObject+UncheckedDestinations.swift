/// Destinations for generated accessors, as the type that a property declares.
///
/// The model may allow more objects than the property's type: the relationship's entity may have subentities of which the type is one. Apple's
/// accessors hand on such an object as it is, so these do. It answers what every managed object answers, and the properties that its own entity
/// has; methods and stored properties of the declared class are not its own.
extension NSManagedObject {
    /// The destination of a to-one relationship, without a check of its class.
    @_spi(GeneratedCode) public final func managedObject<Destination: NSManagedObject>(at index: Int, as type: Destination.Type) -> Destination? {
        managedObject(at: index).map { Self.unchecked($0, as: type) }
    }

    /// The destination of a to-one relationship, for a property that declares a protocol; nil if the object does not conform.
    @_spi(GeneratedCode) public final func managedObject<Destination>(at index: Int, as type: Destination.Type) -> Destination? {
        managedObject(at: index) as? Destination
    }

    /// The members of a to-many relationship, without a check of their classes.
    @_spi(GeneratedCode) public final func managedObjects<Member: NSManagedObject>(at index: Int, as type: Member.Type) -> Set<Member> {
        Set(managedObjects(at: index).map { Self.unchecked($0, as: type) })
    }

    /// The object as another type. `unsafeDowncast` checks the class in unoptimized builds.
    private static func unchecked<Wanted: NSManagedObject>(_ object: NSManagedObject, as type: Wanted.Type) -> Wanted {
        Unmanaged<Wanted>.fromOpaque(Unmanaged.passUnretained(object).toOpaque()).takeUnretainedValue()
    }

    /// The members of a to-many relationship, for a property that declares another type; those of another one are left out.
    @_spi(GeneratedCode) public final func managedObjects<Member: Hashable>(at index: Int, as type: Member.Type) -> Set<Member> {
        Set(managedObjects(at: index).compactMap { $0 as? Member })
    }
}
