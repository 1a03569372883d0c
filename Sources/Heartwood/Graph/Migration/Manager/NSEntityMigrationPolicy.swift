import Foundation

/// Carries out one entity mapping of a migration. A mapping can name a subclass, which overrides parts of it.
///
/// The manager makes one policy for each mapping, and calls its methods in three passes over all mappings. First pass: `begin(_:with:)`,
/// `createDestinationInstances(forSource:in:manager:)` for each object of the source, `endInstanceCreation(forMapping:manager:)`. Second pass:
/// `createRelationships(forDestination:in:manager:)` for each object associated in the first, `endRelationshipCreation(forMapping:manager:)`. Third
/// pass: `performCustomValidation(forMapping:manager:)`, `end(_:manager:)`. An error of any of them ends the migration, and the manager throws it.
///
/// The manager saves the destination's context during the passes, so that only some thousands of objects are in memory. A policy that needs an
/// object later keeps its `objectID`, or looks up its association in the manager.
///
/// A value expression calls `FUNCTION($entityPolicy, "numberFromText:", $source.size)`. Without the Objective-C runtime a method cannot be found by
/// its name, so a policy implements such functions in `value(ofFunction:arguments:)`.
/// Source: https://developer.apple.com/documentation/coredata/nsentitymigrationpolicy
open class NSEntityMigrationPolicy: NSObject {
    public required override init() {
        super.init()
    }

    /// Called before the mapping's first object. The default does nothing.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes the objects that an object of the source becomes. The default makes one object of the destination's entity, sets its attributes
    /// according to the mapping, and associates the two.
    ///
    /// An override that does not call `super` must associate the objects it makes: relationships are set only for associated objects.
    open func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        guard !entity.isAbstract else { throw MigrationErrors.abstract(entity, mapping) }
        let object = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        try manager.setAttributes(of: object, from: sInstance, mapping, self)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
    }

    /// Called after the last object of the mapping's source. The default does nothing.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of an object that was made. The default follows the mapping.
    open func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try manager.setRelationships(of: dInstance, mapping, self)
    }

    /// Called after all objects of the mapping have their relationships. The default does nothing.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Override it for your own checks; the model's are made afterwards. The default does nothing.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called last. The default does nothing.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Evaluates a FUNCTION that a value expression calls on `$entityPolicy`.
    /// - Parameters:
    ///   - selector: the name in the expression, such as `"numberFromText:"`.
    ///   - arguments: the values of its arguments: numbers as `NSNumber`, objects, collections as arrays.
    /// - Returns: the value. An override calls `super` for names that it does not know.
    /// - Throws: by default 134170, since it knows no function.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            NSEntityMigrationPolicyError,
            "\(Swift.type(of: self)) does not implement the function \"\(selector)\" of a value expression; override value(ofFunction:arguments:).")
    }
}
