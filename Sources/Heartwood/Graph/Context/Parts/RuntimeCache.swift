/// The runtimes and entities that a context has looked up.
struct RuntimeCache {
    /// Known runtimes, by slot.
    var runtimesBySlot: [EntityRuntime?] = []
    var runtimesByEntity = IdentityTable<EntityRuntime>()
    /// The entity last looked up by name.
    var named: NamedEntity?
    /// The entity that names a class, by class.
    var entitiesByClass: [ObjectIdentifier: NSEntityDescription] = [:]
}
