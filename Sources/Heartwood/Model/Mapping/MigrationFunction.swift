import Foundation

/// The name of the variable for the migration manager in value expressions: `$manager`. The constants below name the other variables.
public let NSMigrationManagerKey = "manager"
/// The variable for the source's object.
public let NSMigrationSourceObjectKey = "source"
/// The variable for the destination's object.
public let NSMigrationDestinationObjectKey = "destination"
public let NSMigrationEntityMappingKey = "entityMapping"
public let NSMigrationPropertyMappingKey = "propertyMapping"
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// The methods of a migration manager that value expressions call by name. The names are those that Xcode writes.
enum MigrationFunction: String {
    case destinations = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    case destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    case sources = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    case sourceContext, destinationContext, sourceModel, destinationModel, mappingModel, currentEntityMapping, userInfo
}
