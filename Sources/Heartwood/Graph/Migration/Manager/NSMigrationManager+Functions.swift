import Foundation

extension NSMigrationManager: FunctionReceiver {
    func answer(toFunction selector: String, arguments: [PredicateValue]) throws -> PredicateValue? {
        guard let function = MigrationFunction(rawValue: selector) else {
            return isSubclassed ? PredicateValue(try value(ofFunction: selector, arguments: arguments.map(\.object))) : nil
        }
        func name() throws -> String {
            guard arguments.count == 2, case .text(let name) = arguments[0] else {
                throw PredicateFault(reason: "\(selector) needs a name and one more argument.")
            }
            return name
        }
        switch function {
        case .destinations:
            let name = try name()
            guard let mapping = mapping(named: name) else { throw MigrationErrors.noMapping(name) }
            let objects = try objects(arguments[1])
            return PredicateValue(
                isSubclassed ? destinationInstances(forEntityMappingName: name, sourceInstances: objects) : destinations(of: mapping, objects))
        case .destinationsOfRelationship:
            _ = try name()
            return PredicateValue(try destinations(of: nil, objects(arguments[1])))
        case .sources:
            let name = try name()
            guard let mapping = mapping(named: name) else { throw MigrationErrors.noMapping(name) }
            let objects = try objects(arguments[1])
            return PredicateValue(
                isSubclassed ? sourceInstances(forEntityMappingName: name, destinationInstances: objects) : sources(of: mapping, objects))
        case .fetchRequest:
            let name = try name()
            guard case .text(let format) = arguments[1] else { throw PredicateFault(reason: "\(selector) needs the format of a predicate.") }
            return .other(try sourceRequest(name, where: try NSPredicate(parsing: format)))
        default: return predicateValue(forKey: selector).map { PredicateValue($0) } ?? .null
        }
    }

    private var isSubclassed: Bool { type(of: self) != NSMigrationManager.self }

    /// One object, or the objects of a collection.
    private func objects(_ value: PredicateValue) throws -> [NSManagedObject] {
        switch value {
        case .null: return []
        case .object: return value.managedObject.map { [$0] } ?? []
        case .collection(let members): return try members.flatMap { try objects($0) }
        default: throw PredicateFault(reason: "Managed objects were expected, not \(value.object ?? "nothing").")
        }
    }

    /// A request for all objects of an entity of the source, without its subentities.
    final func sourceRequest(_ entity: String, where predicate: NSPredicate?) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(name: entity, objectClass: nil)
        request.predicate = predicate
        request.includesSubentities = false
        return request
    }
}

extension NSMigrationManager: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? {
        switch MigrationFunction(rawValue: key) {
        case .sourceContext: reader
        case .destinationContext: writer
        case .sourceModel: sourceModel
        case .destinationModel: destinationModel
        case .mappingModel: ownMappingModel
        case .currentEntityMapping: currentMapping
        case .userInfo: userInfo
        default: nil
        }
    }
}

extension NSEntityMapping: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "sourceEntityName": sourceEntityName
        case "destinationEntityName": destinationEntityName
        case "userInfo": userInfo
        default: nil
        }
    }
}

extension NSPropertyMapping: PredicateSubject {
    package func predicateValue(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "userInfo": userInfo
        default: nil
        }
    }
}

extension NSEntityMigrationPolicy: FunctionReceiver {
    func answer(toFunction selector: String, arguments: [PredicateValue]) throws -> PredicateValue? {
        PredicateValue(try value(ofFunction: selector, arguments: arguments.map(\.object)))
    }
}
