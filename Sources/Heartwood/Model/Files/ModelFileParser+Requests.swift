/// Parses fetched properties, fetch request templates and composites.
extension ModelFileParser {
    func startFetchedProperty(_ values: [String: String]) {
        fetchedProperty = ModelDocument.FetchedProperty(
            name: values["name"] ?? "", isOptional: values["optional"] == "YES", renamingIdentifier: values["elementID"],
            versionHashModifier: values["versionHashModifier"], line: line)
    }

    func startFetchRequest(_ values: [String: String]) {
        let path = fetchedProperty.map { "fetchedProperty \(entity?.name ?? "?").\($0.name)" } ?? "fetchRequest \(values["name"] ?? "")"
        func flag(_ key: String) -> Bool? { values[key].map { $0 == "YES" } }
        var new = ModelDocument.FetchRequest(name: values["name"] ?? "", entity: values["entity"], line: line)
        new.predicate = values["predicateString"].flatMap { $0.isEmpty ? nil : $0 }
        new.fetchLimit = count("fetchLimit", of: values, path).flatMap { $0 == 0 ? nil : $0 }
        new.fetchBatchSize = count("fetchBatchSize", of: values, path).flatMap { $0 == 0 ? nil : $0 }
        if let declared = values["resultType"], declared != "0" {
            guard let type = UInt(declared) else { return fail("\(path): the result type \"\(declared)\" is unknown.") }
            new.resultType = type
        }
        // An absent flag means a new request's default.
        new.includesSubentities = flag("includeSubentities")
        new.includesPropertyValues = flag("includePropertyValues")
        new.includesPendingChanges = flag("includePendingChanges") ?? flag("includesPendingChanges")
        new.returnsObjectsAsFaults = flag("returnObjectsAsFaults")
        fetchRequest = new
    }

    func endRequest(_ element: String) {
        switch element {
        case "fetchRequest":
            if let fetchRequest {
                if fetchedProperty != nil {
                    fetchedProperty?.request = fetchRequest
                } else {
                    document.fetchRequests.add(fetchRequest)
                }
            }
            fetchRequest = nil
        case "fetchedProperty":
            if let fetchedProperty { entity?.fetchedProperties.add(fetchedProperty) }
            fetchedProperty = nil
        default:
            if let composite { document.composites.append(composite) }
            composite = nil
        }
    }
}
