extension NSManagedObjectID {
    /// The store that holds the object; nil for a temporary ID, and after the store was removed.
    public final var persistentStore: NSPersistentStore? { holder.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
}
