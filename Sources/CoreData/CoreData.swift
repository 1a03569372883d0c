// `import CoreData` on platforms that have none of their own: Heartwood under the name that existing code uses.

#if !canImport(Darwin)
    // Code that imports Core Data alone names URL, Date, Data and DispatchQueue, which Apple's framework brings along.
    @_exported import Dispatch
    @_exported import Foundation
    @_exported import Heartwood
#endif
