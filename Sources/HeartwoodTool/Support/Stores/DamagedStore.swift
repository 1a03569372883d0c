import Foundation
import Heartwood
import RecordLog

/// The reading commands' policy for a store with damaged committed bytes: they refuse it, or with an option read the part before the damage and
/// print a warning.
enum DamagedStore {
    static let option = Parameter.flag(
        "accept-damage", "reads what comes before the damage of a damaged store, with a warning; without it such a store is an error")

    static func warn(_ damage: StoreError) {
        Output.warning("the output lacks everything behind the damage: \(damage.description)")
    }

    /// The model that a store carries.
    /// - Parameter warns: false if the store is opened next, which prints the warning as well.
    static func model(
        at url: URL, usesMemoryMapping: Bool = true, isAccepted: Bool, asOf past: PastCommit? = nil, warns: Bool = true
    ) throws -> NSManagedObjectModel {
        do {
            return try StoredModel.read(at: url, usesMemoryMapping: usesMemoryMapping, acceptsDamage: isAccepted, asOf: past) {
                if warns { warn($0) }
            }
        } catch let error as StoreError where error.code == .corrupt && !isAccepted {
            throw ToolError.failure("\(error.description) \(option.title) reads the part before the damage, if it is readable.")
        }
    }
}
