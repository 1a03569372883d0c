import Foundation

/// The manager, in value expressions: `$manager`. The others are named likewise.
public let NSMigrationManagerKey = "manager"
/// The object that is being migrated.
public let NSMigrationSourceObjectKey = "source"
/// The object that it becomes.
public let NSMigrationDestinationObjectKey = "destination"
public let NSMigrationEntityMappingKey = "entityMapping"
public let NSMigrationPropertyMappingKey = "propertyMapping"
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// The methods of a migration manager that value expressions call by name, as Xcode writes them.
enum MigrationFunction: String {
    case destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    case destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    case sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    case sourceContext, destinationContext, sourceModel, destinationModel, mappingModel, currentEntityMapping, userInfo
}
