import Foundation

/// Describes a store to add: its URL, type and options.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The store's location. Initially `/dev/null`, at which a record log is kept in memory.
    open var url: URL? {
        didSet { if url != oldValue { neighbor = nil } }
    }
    /// The SQLite store of which a missing store at the URL is made.
    private(set) var neighbor: URL?
    /// The store type; `NSRecordLogStoreType` unless set.
    open var type = NSRecordLogStoreType
    /// The model configuration whose entities the store holds; nil for all.
    open var configuration: String?
    /// The store's options, see `setOption(_:forKey:)`. Initially those that migrate the store automatically.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true), NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]
    /// Whether loading returns before the store is open.
    open var shouldAddStoreAsynchronously = false

    /// Describes a store in memory, until `url` is set to a file.
    public override init() {
        url = URL(fileURLWithPath: "/dev/null")
        super.init()
    }

    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Describes the first store of a container, which takes over what an app has left beside it.
    convenience init(url: URL, neighbor: URL) {
        self.init(url: url)
        self.neighbor = neighbor
    }

    /// Sets an option, or removes it if `option` is nil. Properties of this class that set options change the same values.
    open func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    /// Whether the store is read-only: saves throw 513, and nothing is written, neither to the store's file nor beside it.
    open var isReadOnly: Bool {
        get { (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
    }

    /// Whether a store of another version of the model is migrated when it is added. The default is true.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription/shouldmigratestoreautomatically
    open var shouldMigrateStoreAutomatically: Bool {
        get { (options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// Whether a missing mapping model is replaced by an inferred mapping. The default is true.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription/shouldinfermappingmodelautomatically
    open var shouldInferMappingModelAutomatically: Bool {
        get { (options[NSInferMappingModelAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// Whether a store with objects is migrated by an inferred mapping even if its model has no entity in common with the coordinator's. Nothing
    /// is left of its contents then, so the default is false: loading such a store fails with error 134140.
    open var shouldMigrateStoreToUnrelatedModel: Bool {
        get { (options[NSMigratePersistentStoresToUnrelatedModelsOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSMigratePersistentStoresToUnrelatedModelsOption] = NSNumber(value: newValue) }
    }

    /// The number of seconds for which opening or saving waits while another process writes; infinity waits without limit. The default is
    /// 240.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? NSPersistentStore.defaultTimeout }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// Whether both describe the same store with the same options.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return self === other || url == other.url && type == other.type && configuration == other.configuration
            && options == other.options && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(type)
        hasher.combine(configuration)
        return hasher.finalize()
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.url = url
        copy.neighbor = neighbor
        copy.type = type
        copy.configuration = configuration
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    open override var description: String {
        "<NSPersistentStoreDescription \(type) at \(url?.path ?? "no URL")>"
    }
}
