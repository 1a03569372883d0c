import Foundation
import Heartwood

extension ModelPredicates {
    /// Adds the parts of a descriptor that are put together at run time.
    func addRunTimeParts<Model: PersistentModel>(
        of descriptor: FetchDescriptor<Model>, to request: NSFetchRequest<ModelObject>, _ entity: NSEntityDescription
    ) {
        let type = ModelType.of(Model.self)
        request.textSearch = descriptor.textSearch
        request.predicate = descriptor.nsPredicate.map { $0.lowered(by: self) { Self.managed($0, of: type) } }
        guard !descriptor.nsSortDescriptors.isEmpty else { return }
        request.sortDescriptors = (request.sortDescriptors ?? []) + descriptor.nsSortDescriptors.map { order in
            guard let key = order.key else { return order }
            let path = Self.managed(key.split(separator: ".").map(String.init), of: type).joined(separator: ".")
            return path == key ? order : NSSortDescriptor(key: path, ascending: order.ascending)
        }
    }

    /// The keys of managed objects for keys of a model: a case of an enumeration is the only element of its composite.
    private static func managed(_ keys: [String], of type: ModelType) -> [String] {
        var owner = type
        for (index, key) in keys.enumerated() {
            guard let property = owner.byName[key] else { return keys }
            switch property.kind {
            case .toOne(let next), .toMany(let next): owner = ModelType.of(next)
            case .attribute(let coding):
                guard case .raw = coding.form, index == keys.count - 1 else { return keys }
                return keys + [key]
            case .unfit: return keys
            }
        }
        return keys
    }
}

extension NSPredicate {
    /// Both conditions.
    static func both(_ first: NSPredicate, _ second: NSPredicate?) -> NSPredicate {
        second.map { NSCompoundPredicate(andPredicateWithSubpredicates: [first, $0]) } ?? first
    }
}
