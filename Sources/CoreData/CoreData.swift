// `import CoreData` on platforms that have none of their own: Heartwood under the name that existing code uses.

#if !canImport(Darwin)
    @_exported import Heartwood
#endif
