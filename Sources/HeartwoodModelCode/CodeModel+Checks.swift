extension CodeModel {
    /// Returns the model with its entities sorted by name.
    /// - Throws: `CodeError` if names that code would refer to are missing, or are there twice.
    func checked() throws -> CodeModel {
        var names: Set<String> = []
        let known = Set(entities.map(\.name))
        for entity in entities {
            guard names.insert(entity.name).inserted else {
                throw CodeError(path, entity.line, "there are two entities named \(entity.name); rename one.")
            }
            if let parent = entity.parent, !known.contains(parent) {
                throw CodeError(path, entity.line, "the entity \(entity.name) inherits from \(parent), which does not exist.")
            }
            for relationship in entity.relationships where !known.contains(relationship.destination) {
                throw CodeError(
                    path, relationship.line,
                    "the relationship \(entity.name).\(relationship.name) leads to \"\(relationship.destination)\", which does not exist.")
            }
        }
        let parents = Dictionary(uniqueKeysWithValues: entities.compactMap { entity in entity.parent.map { (entity.name, $0) } })
        for entity in entities {
            var seen: Set<String> = []
            var next: String? = entity.name
            while let name = next {
                guard seen.insert(name).inserted else {
                    throw CodeError(path, entity.line, "the entity \(entity.name) inherits from itself, through \(name).")
                }
                next = parents[name]
            }
            var properties: Set<String> = []
            let stated = entity.attributes.map { ($0.name, $0.line) } + entity.relationships.map { ($0.name, $0.line) }
            for (name, line) in stated where !properties.insert(name).inserted {
                throw CodeError(path, line, "the entity \(entity.name) has two properties named \(name); rename one.")
            }
        }
        var model = self
        model.entities.sort { $0.name < $1.name }
        return model
    }
}
