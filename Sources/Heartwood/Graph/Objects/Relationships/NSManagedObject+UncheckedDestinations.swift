/// Destinations for generated accessors, as the type that a property declares. The compiler takes it from the property: a class's name would mean
/// a property where one has the same name.
///
/// The model may allow more objects than the property's type: the relationship's entity may have subentities of which the type is one. Apple's
/// accessors hand on such an object as it is, so these do. It answers what every managed object answers, and the properties that its own entity
/// has; methods and stored properties of the declared class are not its own.
extension NSManagedObject {
    /// The destination of a to-one relationship, without a check of its class.
    @_spi(GeneratedCode) public final func uncheckedDestination<Destination: NSManagedObject>(at index: Int) -> Destination? {
        managedObject(at: index).map { Self.unchecked($0) }
    }

    /// The destination of a to-one relationship, for a property that declares a protocol; nil if the object does not conform.
    @_disfavoredOverload
    @_spi(GeneratedCode) public final func uncheckedDestination<Destination>(at index: Int) -> Destination? {
        managedObject(at: index) as? Destination
    }

    /// The members of a to-many relationship, without a check of their classes.
    @_spi(GeneratedCode) public final func uncheckedDestinations<Member: NSManagedObject>(at index: Int) -> Set<Member> {
        Set(managedObjects(at: index).map { Self.unchecked($0) })
    }

    /// The members of a to-many relationship, for a property that declares another type; those of another one are left out.
    @_disfavoredOverload
    @_spi(GeneratedCode) public final func uncheckedDestinations<Member: Hashable>(at index: Int) -> Set<Member> {
        Set(managedObjects(at: index).compactMap { $0 as? Member })
    }

    /// The object as another type. `unsafeDowncast` checks the class in unoptimized builds.
    private static func unchecked<Wanted: NSManagedObject>(_ object: NSManagedObject) -> Wanted {
        Unmanaged<Wanted>.fromOpaque(Unmanaged.passUnretained(object).toOpaque()).takeUnretainedValue()
    }
}
