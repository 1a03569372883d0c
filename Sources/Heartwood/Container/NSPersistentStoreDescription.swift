import Foundation

/// Says how a store is to be added: where, of what type, with which options.
/// Source: https://developer.apple.com/documentation/coredata/nspersistentstoredescription
open class NSPersistentStoreDescription: NSObject, NSCopying {
    public final var url: URL?
    /// The store type; `NSRecordLogStoreType` unless set.
    public final var type = NSRecordLogStoreType
    public final var configuration: String?
    public final private(set) var options: [String: NSObject] = [:]
    /// Whether loading returns before the store is open.
    public final var shouldAddStoreAsynchronously = false

    /// A description of a record log in memory's place: no URL, so set one or choose the in-memory type.
    public override init() {
        super.init()
    }

    public init(url: URL) {
        self.url = url
        super.init()
    }

    public final func setOption(_ option: NSObject?, forKey key: String) {
        options[key] = option
    }

    public final var isReadOnly: Bool {
        get { (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
        set { options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
    }

    /// How many seconds a save waits while another process is writing.
    public final var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 5 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
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
