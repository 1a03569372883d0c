extension NSPersistentStoreRequest {
    /// The stores in which the request is executed; nil for all.
    public final var affectedStores: [NSPersistentStore]? {
        get { storesToAsk?.map { unsafeDowncast($0, to: NSPersistentStore.self) } }
        set { storesToAsk = newValue }
    }
}
