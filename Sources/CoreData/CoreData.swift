// Makes `import CoreData` work on platforms without Apple's framework: existing code gets Heartwood under the name that it uses.

#if !canImport(Darwin)
    // Code that imports only Core Data also uses URL, Date, Data and DispatchQueue, which Apple's framework re-exports.
    @_exported import Dispatch
    @_exported import Foundation
    @_exported @_spi(GeneratedCode) import Heartwood
#endif
