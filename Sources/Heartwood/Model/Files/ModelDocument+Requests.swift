import Foundation

extension ModelDocument {
    /// A fetch request template, or the fetch of a fetched property.
    struct FetchRequest: Codable, Equatable {
        struct Sort: Codable, Equatable {
            var key: String
            var isAscending: Bool
            /// nil: literal.
            var textOrder: String?
        }

        var name: String
        var entity: String?
        /// In the format language.
        var predicate: String?
        var sort: [Sort]?
        var fetchLimit: Int?
        var fetchOffset: Int?
        var fetchBatchSize: Int?
        /// The raw value of `NSFetchRequestResultType`.
        var resultType: UInt?
        // Set only if they differ from a new request's.
        var includesSubentities: Bool?
        var includesPendingChanges: Bool?
        var includesPropertyValues: Bool?
        var returnsObjectsAsFaults: Bool?
        var prefetching: [String]?
        var line: Int?
    }

    struct FetchedProperty: Codable, Equatable {
        var name: String
        var isOptional: Bool
        var request: FetchRequest?
        var renamingIdentifier: String?
        var versionHashModifier: String?
        var userInfo: [String: String]?
        var line: Int?
    }
}

extension ModelDocument.FetchRequest {
    /// - Returns: nil if the predicate or the order has no text form, as blocks, comparators and objects have none.
    init?(_ request: NSFetchRequest<any NSFetchRequestResult>, name: String) {
        self.name = name
        entity = request.entityName
        if let node = request.predicate?.storedNode {
            let format = PredicatePrinter.format(node)
            guard (try? PredicateParser.parse(format, arguments: [])) != nil else { return nil }
            predicate = format
        }
        for descriptor in request.sortDescriptors ?? [] {
            let probe = SortProbe(descriptor)
            guard let key = probe.key else { return nil }
            let textOrder = probe.textOrder == .literal ? nil : probe.textOrder.rawValue
            sort = (sort ?? []) + [Sort(key: key, isAscending: descriptor.ascending, textOrder: textOrder)]
        }
        let fresh = NSFetchRequest<any NSFetchRequestResult>()
        func nonDefault<Value: Equatable>(_ path: KeyPath<NSFetchRequest<any NSFetchRequestResult>, Value>) -> Value? {
            request[keyPath: path] == fresh[keyPath: path] ? nil : request[keyPath: path]
        }
        fetchLimit = nonDefault(\.fetchLimit)
        fetchOffset = nonDefault(\.fetchOffset)
        fetchBatchSize = nonDefault(\.fetchBatchSize)
        resultType = nonDefault(\.resultType)?.rawValue
        includesSubentities = nonDefault(\.includesSubentities)
        includesPendingChanges = nonDefault(\.includesPendingChanges)
        includesPropertyValues = nonDefault(\.includesPropertyValues)
        returnsObjectsAsFaults = nonDefault(\.returnsObjectsAsFaults)
        prefetching = request.relationshipKeyPathsForPrefetching
    }
}

extension ModelDocument.FetchedProperty {
    init(_ property: NSFetchedPropertyDescription) {
        name = property.name
        isOptional = property.isOptional
        request = property.fetchRequest.flatMap { ModelDocument.FetchRequest($0, name: property.name) }
        renamingIdentifier = property.declaredRenamingIdentifier
        versionHashModifier = property.versionHashModifier
        userInfo = ModelDocument.texts(of: property.userInfo)
    }
}
