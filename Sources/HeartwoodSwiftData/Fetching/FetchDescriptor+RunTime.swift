import Foundation
import Heartwood

extension FetchDescriptor {
    /// A descriptor whose condition and order are put together at run time, from texts or from parts that a user chooses.
    ///
    /// The keys are the names of the model's properties, also through relationships: `NSPredicate(format: "author.name == %@", name)`. The part of a
    /// structure has its path (`place.city`), and an enumeration is compared with its raw value or its case. A model, an identifier or a case may
    /// be an argument (`argumentArray:`).
    public init(predicate: NSPredicate, sortBy: [NSSortDescriptor] = []) {
        self.init()
        nsPredicate = predicate
        nsSortDescriptors = sortBy
    }

    /// Whether a part of it is known only by the names of properties, which a store of the program's own does not know.
    var hasRunTimeParts: Bool { nsPredicate != nil || !nsSortDescriptors.isEmpty || textSearch != nil }
}
