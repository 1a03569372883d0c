import Foundation

/// Makes fetched properties and fetch request templates.
extension ModelBuilder {
    func fetchedProperties(
        of declared: ModelDocument.Entity, _ entities: [String: NSEntityDescription]
    ) throws -> [NSFetchedPropertyDescription] {
        try (declared.fetchedProperties ?? []).map { declared in
            let property = NSFetchedPropertyDescription()
            property.name = declared.name
            property.isOptional = declared.isOptional
            property.isTransient = true
            property.declaredRenamingIdentifier = declared.renamingIdentifier
            property.versionHashModifier = declared.versionHashModifier
            property.userInfo = declared.userInfo
            property.fetchRequest = try declared.request.map {
                try request($0, "the fetched property \(declared.name)", entities, line: declared.line)
            }
            return property
        }
    }

    func addFetchRequests(to model: NSManagedObjectModel, _ entities: [String: NSEntityDescription]) throws {
        for declared in document.fetchRequests ?? [] {
            guard model.fetchRequestTemplate(forName: declared.name) == nil else {
                throw failure("there are two fetch requests named \(declared.name); rename one.", line: declared.line)
            }
            let path = "the fetch request \(declared.name)"
            model.setTemplate(try request(declared, path, entities, line: declared.line), declared.name)
        }
    }

    private func request(
        _ declared: ModelDocument.FetchRequest, _ path: String, _ entities: [String: NSEntityDescription], line: Int?
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let name = declared.entity {
            guard let entity = entities[name] else {
                throw failure("\(path) asks for the entity \(name), which does not exist.", line: declared.line ?? line)
            }
            request.entity = entity
        }
        request.predicate = try declared.predicate.map { try predicate($0, "\(path) has a predicate", line: declared.line ?? line) }
        request.sortDescriptors = try declared.sort?.map { sort in
            guard let order = NSSortDescriptor.TextOrder(rawValue: sort.textOrder ?? NSSortDescriptor.TextOrder.literal.rawValue) else {
                throw failure("\(path) is sorted by \(sort.textOrder ?? ""), which is no known order of texts.", line: declared.line ?? line)
            }
            return NSSortDescriptor(key: sort.key, ascending: sort.isAscending, textOrder: order)
        }
        request.fetchLimit = declared.fetchLimit ?? 0
        request.fetchOffset = declared.fetchOffset ?? 0
        request.fetchBatchSize = declared.fetchBatchSize ?? 0
        request.resultType = NSFetchRequestResultType(rawValue: declared.resultType ?? 0)
        request.includesSubentities = declared.includesSubentities ?? true
        request.includesPendingChanges = declared.includesPendingChanges ?? true
        request.includesPropertyValues = declared.includesPropertyValues ?? true
        request.returnsObjectsAsFaults = declared.returnsObjectsAsFaults ?? true
        request.relationshipKeyPathsForPrefetching = declared.prefetching
        return request
    }
}
