import Foundation

extension NSManagedObject {
    /// Whether a relationship was set to an object that the same save deletes, or was never taken off one.
    final func validateReferences(into errors: inout [any Error]) {
        guard let context = managedObjectContext, let storage else { return }
        for (index, value) in storage.values.enumerated() {
            let destinations: [ObjectKey]
            switch value {
            case .reference(let key): destinations = [key]
            case .toMany(let state): destinations = state.added
            default: continue
            }
            for key in destinations {
                guard let destination = context.registeredObject(for: key), destination.isDeleted else { continue }
                // A parent does not take what has vanished there, whether or not a fault has told the child so.
                if context.parentContext != nil, destination.state.contains(.inaccessible) { continue }
                errors.append(ValidationErrors.dangling(self, runtime.properties[index].name, destination))
            }
        }
    }
}
