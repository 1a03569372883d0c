import Foundation

extension NSManagedObject {
    /// Reports relationships whose unsaved values name an object that the same save deletes.
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
                // An object that vanished in the parent cannot be saved there, whether or not a fault has shown that to the child.
                if context.parentContext != nil, destination.state.contains(.inaccessible) { continue }
                errors.append(ValidationErrors.dangling(self, runtime.properties[index].name, destination))
            }
        }
    }
}
