import Foundation

/// Makes fetched properties and fetch request templates.
extension ModelBuilder {
    func fetchedProperties(
        of stated: ModelDocument.Entity, _ entities: [String: NSEntityDescription]
    ) throws -> [NSFetchedPropertyDescription] {
        try (stated.fetchedProperties ?? []).map { stated in
            let property = NSFetchedPropertyDescription()
            property.name = stated.name
            property.isOptional = stated.isOptional
            property.isTransient = true
            property.statedRenamingIdentifier = stated.renamingIdentifier
            property.versionHashModifier = stated.versionHashModifier
            property.userInfo = stated.userInfo
            property.fetchRequest = try stated.request.map {
                try request($0, "the fetched property \(stated.name)", entities, line: stated.line)
            }
            return property
        }
    }

    func addFetchRequests(to model: NSManagedObjectModel, _ entities: [String: NSEntityDescription]) throws {
        for stated in document.fetchRequests ?? [] {
            guard model.fetchRequestTemplate(forName: stated.name) == nil else {
                throw failure("there are two fetch requests named \(stated.name); rename one.", line: stated.line)
            }
            let path = "the fetch request \(stated.name)"
            model.setTemplate(try request(stated, path, entities, line: stated.line), stated.name)
        }
    }

    private func request(
        _ stated: ModelDocument.FetchRequest, _ path: String, _ entities: [String: NSEntityDescription], line: Int?
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let name = stated.entity {
            guard let entity = entities[name] else {
                throw failure("\(path) asks for the entity \(name), which does not exist.", line: stated.line ?? line)
            }
            request.entity = entity
        }
        request.predicate = try stated.predicate.map { try predicate($0, "\(path) has a predicate", line: stated.line ?? line) }
        request.sortDescriptors = try stated.sort?.map { sort in
            guard let order = NSSortDescriptor.TextOrder(rawValue: sort.textOrder ?? NSSortDescriptor.TextOrder.literal.rawValue) else {
                throw failure("\(path) is sorted by \(sort.textOrder ?? ""), which is no order of texts that is known.", line: stated.line ?? line)
            }
            return NSSortDescriptor(key: sort.key, ascending: sort.isAscending, textOrder: order)
        }
        request.fetchLimit = stated.fetchLimit ?? 0
        request.fetchOffset = stated.fetchOffset ?? 0
        request.fetchBatchSize = stated.fetchBatchSize ?? 0
        request.resultType = NSFetchRequestResultType(rawValue: stated.resultType ?? 0)
        request.includesSubentities = stated.includesSubentities ?? true
        request.includesPendingChanges = stated.includesPendingChanges ?? true
        request.includesPropertyValues = stated.includesPropertyValues ?? true
        request.returnsObjectsAsFaults = stated.returnsObjectsAsFaults ?? true
        request.relationshipKeyPathsForPrefetching = stated.prefetching
        return request
    }
}
