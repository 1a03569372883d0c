extension NSManagedObjectModel {
    /// The names of the entities, for a message about a name that is none of them.
    var listedEntities: String { entitiesByName.isEmpty ? "no entities" : entitiesByName.keys.sorted().joined(separator: ", ") }
}

extension NSEntityDescription {
    /// The names of the properties, for a message about a name that is none of them.
    var listedProperties: String { propertiesByName.isEmpty ? "no properties" : propertiesByName.keys.sorted().joined(separator: ", ") }
}
