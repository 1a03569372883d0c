extension NSPersistentStoreRequest {
    /// The stores to ask; nil for all of them.
    public final var affectedStores: [NSPersistentStore]? {
        get { storesToAsk?.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
        set { storesToAsk = newValue }
    }
}
