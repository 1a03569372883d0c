#if !canImport(ObjectiveC)
    import Foundation
    import Synchronization

    /// The name under which a value transformer is registered.
    public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        /// Archives of property-list classes, dates, URLs and UUIDs, or of what a subclass allows.
        public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
    }

    /// Makes one value of another, and back. Foundation's class of this name, which Foundation has on Apple's platforms only.
    ///
    /// A transformable attribute names one: `transformedValue(_:)` makes the `Data` that the store keeps, `reverseTransformedValue(_:)`
    /// the value again. Register it before the first save or read; any thread may.
    /// Source: https://developer.apple.com/documentation/foundation/valuetransformer
    open class ValueTransformer: NSObject, NamedTransformers {
        public override init() {
            super.init()
        }

        fileprivate struct Registry: @unchecked Sendable {
            // Unchecked: transformers are used by any thread, as on Apple's platforms.
            var transformers: [NSValueTransformerName: ValueTransformer] = [:]
        }

        fileprivate static let registry = Mutex(Registry())

        /// Registers a transformer; nil takes the name away.
        public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
            nonisolated(unsafe) let new = transformer
            registry.withLock { $0.transformers[name] = new }
        }

        /// A transformer of the class of that name.
        fileprivate static func ofClass(named name: String) -> ValueTransformer? {
            if [NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue, "\(NSSecureUnarchiveFromDataTransformer.self)"].contains(name) {
                return NSSecureUnarchiveFromDataTransformer()
            }
            guard let found = ManagedObjectClasses.find(name, as: ValueTransformer.self),
                ClassChange.isPossible(from: ValueTransformer.self, to: found)
            else { return nil }
            let made = ValueTransformer()
            ClassChange.change(made, to: found)
            return made
        }

        /// The names that are registered.
        public class func valueTransformerNames() -> [NSValueTransformerName] {
            registry.withLock { Array($0.transformers.keys) }
        }

        /// The class of what `transformedValue(_:)` makes.
        open class func transformedValueClass() -> AnyClass { NSObject.self }

        open class func allowsReverseTransformation() -> Bool { true }

        /// A subclass overrides it; nil where the value cannot be transformed.
        open func transformedValue(_ value: Any?) -> Any? { nil }

        /// The other way; a subclass overrides it where that differs.
        open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }
    }

    /// Lets an initializer give an object that is there already.
    public protocol NamedTransformers {}

    extension NamedTransformers where Self: ValueTransformer {
        /// The transformer registered under the name, or Foundation's own of it, else one of the class of that name, which is registered from then on;
        /// nil for none. A class is named with its module or without, where its module has made requests; it has to have no stored properties.
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

    /// From archives to their objects; the other way it archives. A transformable attribute that names it, or a subclass with classes of
    /// its own in `allowedTopLevelClasses`, uses it in that direction.
    ///
    /// An archive of Foundation's collections, texts, numbers, dates, data, URLs and UUIDs is read without making objects of classes that
    /// it names. Where other classes are allowed, all that the archive names must be among them.
    /// Source: https://developer.apple.com/documentation/foundation/nssecureunarchivefromdatatransformer
    open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
        /// What the archived object may be. Of it and in it there may be what this lists, and Foundation's classes named above.
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
