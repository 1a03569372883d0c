#if !canImport(ObjectiveC)
    import Foundation
    import Synchronization

    /// The name of a registered value transformer.
    public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Archives of property-list classes, dates, URLs and UUIDs. A subclass may allow other classes.
        public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
    }

    /// Converts values to other values and back. Foundation has this class on Apple's platforms only.
    ///
    /// A transformable attribute names one. `transformedValue(_:)` makes the `Data` that the store keeps, and `reverseTransformedValue(_:)` turns
    /// it back into the value. Register it before the first save or read. Any thread may call it.
    /// Source: https://developer.apple.com/documentation/foundation/valuetransformer
    open class ValueTransformer: NSObject, _NamedTransformers {
        public override init() {
            super.init()
        }

        fileprivate struct Registry: @unchecked Sendable {
            // Unchecked: any thread may call a transformer, as on Apple's platforms.
            var transformers: [NSValueTransformerName: ValueTransformer] = [:]
        }

        fileprivate static let registry = Mutex(Registry())

        /// Registers a transformer. nil removes the name.
        public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
            nonisolated(unsafe) let new = transformer
            registry.withLock { $0.transformers[name] = new }
        }

        /// A new transformer of the class with this name.
        fileprivate static func ofClass(named name: String) -> ValueTransformer? {
            let secure = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
            if name == secure || name == "\(NSSecureUnarchiveFromDataTransformer.self)" {
                return NSSecureUnarchiveFromDataTransformer()
            }
            guard let found = ManagedObjectClasses.find(name, as: ValueTransformer.self),
                ClassChange.isPossible(from: ValueTransformer.self, to: found)
            else { return nil }
            let made = ValueTransformer()
            ClassChange.change(made, to: found)
            return made
        }

        /// All registered names.
        public class func valueTransformerNames() -> [NSValueTransformerName] {
            registry.withLock { Array($0.transformers.keys) }
        }

        /// The class of the results of `transformedValue(_:)`.
        open class func transformedValueClass() -> AnyClass { NSObject.self }

        open class func allowsReverseTransformation() -> Bool { true }

        /// Converts a value; nil if it cannot be converted. Override it.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// Converts a result of `transformedValue(_:)` back. Override it unless the conversion is its own inverse.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
    }

    /// Lets an initializer return an existing object.
    public protocol _NamedTransformers {}

    extension _NamedTransformers where Self: ValueTransformer {
        /// Finds the transformer registered under the name. Otherwise makes one of the class with that name, or Foundation's own, and registers it.
        /// nil if there is none. The name needs no module if the class's module has made requests. The class must have no stored properties.
        /// Source: https://developer.apple.com/documentation/foundation/valuetransformer/init(forname:)
        public init?(forName name: NSValueTransformerName) {
            nonisolated(unsafe) var found = ValueTransformer.registry.withLock { $0.transformers[name] }
            if found == nil, let made = ValueTransformer.ofClass(named: name.rawValue) {
                found = made
                ValueTransformer.setValueTransformer(made, forName: name)
            }
            guard let known = found as? Self else { return nil }
            self = known
        }
    }

    /// Turns archives into objects, and archives objects in the reverse direction. A transformable attribute may name this class, or a subclass
    /// with its own `allowedTopLevelClasses`; the store then archives when it writes and unarchives when it reads.
    ///
    /// Reading an archive of Foundation's collections, strings, numbers, dates, data, URLs and UUIDs makes no objects of classes that the archive
    /// names. If other classes are allowed, every class that the archive names must be among them.
    /// Source: https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer
    open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
        /// The classes that the archived object may have. Its parts may have these and the classes of Foundation's named above.
        open class var allowedTopLevelClasses: [AnyClass] { ObjectArchive.foundationClasses }

        open override func transformedValue(_ value: Any?) -> Any? {
            guard let data = value as? Data else { return nil }
            return ObjectArchive.object(data, allowing: type(of: self).allowedTopLevelClasses).flatMap { isAllowed($0) ? $0 : nil }
        }

        open override func reverseTransformedValue(_ value: Any?) -> Any? {
            guard let value, isAllowed(value) else { return nil }
            return try? ObjectArchive.data(AttributeCoding.bridged(value), allowing: type(of: self).allowedTopLevelClasses)
        }

        private func isAllowed(_ object: Any) -> Bool {
            type(of: self).allowedTopLevelClasses.contains { ObjectArchive.isKind(object, of: $0) }
        }
    }
#endif
