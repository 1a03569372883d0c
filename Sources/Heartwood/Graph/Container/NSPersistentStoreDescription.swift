import Foundation

/// Says how a store is to be added: where, of what type, with which options.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// Where the store is. At first the system's file of nothing: a record log there is in memory.
    open var url: URL?
    /// The store type; `NSRecordLogStoreType` unless set.
    open var type = NSRecordLogStoreType
    /// The model configuration whose entities the store holds; nil for all.
    open var configuration: String?
    /// See `setOption(_:forKey:)`. At first those that have the store migrated automatically.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true), NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]
    /// Whether loading returns before the store is open.
    open var shouldAddStoreAsynchronously = false

    /// A description of a store in memory, until `url` is set to a file's.
    public override init() {
        url = URL(fileURLWithPath: "/dev/null")
        super.init()
    }

    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Sets an option by its key, or takes it back (nil). Options with properties of their own here are the same ones.
    open func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    /// Whether the store is added for reading alone: saves are refused (513), and nothing is written, beside its file neither.
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

    /// Whether the mapping is inferred where there is no mapping model. The default is true.
    /// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription/shouldinfermappingmodelautomatically
    open var shouldInferMappingModelAutomatically: Bool {
        get { (options[NSInferMappingModelAutomaticallyOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
    }

    /// How many seconds an opening or a save waits while another process is writing; infinity for as long as it takes. The default is 240.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? NSPersistentStore.defaultTimeout }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// Whether the two describe the same store, to be added in the same way.
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
