/// Keeps both ends of a relationship equal between models of no context. In a context the managed objects do it.
enum LooseInverse {
    /// - Parameters:
    ///   - former: the models at the other end before the change.
    ///   - now: those after it.
    static func renew(of model: any PersistentModel, _ type: ModelType, _ position: Int, former: [any PersistentModel], now: [any PersistentModel]) {
        let property = type.own[position]
        guard let inverse = Inverses.inverse(of: property, of: type) else { return }
        for other in former where !now.contains(where: { $0 === other }) {
            set(members(of: other, inverse).filter { $0 !== model }, of: other, inverse)
        }
        for other in now where !former.contains(where: { $0 === other }) {
            let owners = members(of: other, inverse)
            guard !owners.contains(where: { $0 === model }) else { continue }
            if case .toOne = inverse.kind {
                for owner in owners { set(members(of: owner, property).filter { $0 !== other }, of: owner, property) }
                set([model], of: other, inverse)
            } else {
                set(owners + [model], of: other, inverse)
            }
        }
    }

    private static func storage(of model: any PersistentModel, _ property: ModelProperty) -> ModelStorage? {
        let storages = model._$storages()
        guard property.level < storages.count else { return nil }
        return storages[property.level].object == nil ? storages[property.level] : nil
    }

    private static func members(of model: any PersistentModel, _ property: ModelProperty) -> [any PersistentModel] {
        storage(of: model, property)?.loose(property.position).members ?? []
    }

    private static func set(_ members: [any PersistentModel], of model: any PersistentModel, _ property: ModelProperty) {
        guard let storage = storage(of: model, property) else { return }
        if case .toOne = property.kind {
            storage.setLoose(.model(members.last), at: property.position)
        } else {
            storage.setLoose(.models(members), at: property.position)
        }
        storage.announce(model, property.keyPath)
    }
}
