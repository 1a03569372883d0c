import Foundation

/// What a migration does for one entity mapping. A subclass that the mapping names changes some of it.
///
/// The manager makes one policy for each mapping, and calls its methods in three passes over all mappings: in the first one
/// `begin(_:with:)`, `createDestinationInstances(forSource:in:manager:)` for each object of the source, `endInstanceCreation(forMapping:manager:)`;
/// in the second `createRelationships(forDestination:in:manager:)` for each object that was associated in the first, and
/// `endRelationshipCreation(forMapping:manager:)`; in the third `performCustomValidation(forMapping:manager:)` and `end(_:manager:)`.
/// What any of them throws ends the migration, and is what the manager throws.
///
/// The manager saves the destination's context as the passes go on, so that no more than some thousands of objects are held. A policy
/// that wants to know an object later keeps its `objectID`, or asks the manager for what it was associated with.
///
/// A value expression calls `FUNCTION($entityPolicy, "numberFromText:", $source.size)`. There is no finding a method by its name without
/// the Objective-C runtime: a policy answers such calls in `value(ofFunction:arguments:)`.
/// Source: https://developer.apple.com/documentation/coredata/nsentitymigrationpolicy
open class NSEntityMigrationPolicy: NSObject {
    public required override init() {
        super.init()
    }

    /// Called before the mapping's first object. The default does nothing.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what an object of the source becomes. The default makes one object of the destination's entity, sets its attributes as the
    /// mapping says, and associates the two.
    ///
    /// An override that does not call `super` associates what it makes by itself: relationships are made of associated objects alone.
    open func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        guard !entity.isAbstract else { throw MigrationErrors.abstract(entity, mapping) }
        let object = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        try manager.setAttributes(of: object, from: sInstance, mapping, self)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: object, for: mapping)
    }

    /// Called when all objects of the mapping's source were asked for. The default does nothing.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of an object that was made. The default sets them as the mapping says.
    open func createRelationships(forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try manager.setRelationships(of: dInstance, mapping, self)
    }

    /// Called when all objects of the mapping have their relationships. The default does nothing.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// The place for checks of one's own; the model's are made afterwards. The default does nothing.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called last. The default does nothing.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Answers a FUNCTION that a value expression calls on `$entityPolicy`.
    /// - Parameters:
    ///   - selector: the name that the expression states, such as `"numberFromText:"`.
    ///   - arguments: their values: numbers as `NSNumber`, objects, collections as arrays.
    /// - Returns: the value. An override asks `super` about names that it does not know.
    /// - Throws: by default 134170: no function is known.
    open func value(ofFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataError.make(
            NSEntityMigrationPolicyError,
            "\(Swift.type(of: self)) does not answer the function \"\(selector)\" of a value expression; override value(ofFunction:arguments:).")
    }
}
