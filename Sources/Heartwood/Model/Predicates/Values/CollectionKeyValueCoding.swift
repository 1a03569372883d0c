#if !canImport(ObjectiveC)
    import Foundation

    // Key-value coding of Foundation's collections, which is missing off Apple's platforms. Programs read members' values through relationships'
    // sets and through the results of fetches.

    extension NSArray {
        /// The members' values for a key, with `NSNull` for null. For `@count` and other collection operators the operator's result.
        /// - Precondition: each member has the key.
        public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

        /// The members' values for a path of keys joined by dots.
        public func value(forKeyPath keyPath: String) -> Any? {
            if keyPath.hasPrefix("@") { return CollectionValues.made(of: self, keyPath) }
            return NSArray(array: CollectionValues.of(allMembers, keyPath).map { $0 ?? NSNull() })
        }

        private var allMembers: [Any] { compactMap { $0 } }
    }

    extension NSSet {
        /// The set of the members' values for a key, without null. For `@count` and other collection operators the operator's result.
        /// - Precondition: each member has the key.
        public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

        /// The members' values for a path of keys joined by dots.
        public func value(forKeyPath keyPath: String) -> Any? {
            if keyPath.hasPrefix("@") { return CollectionValues.made(of: self, keyPath) }
            return NSSet(array: CollectionValues.of(allObjects, keyPath).compactMap { $0 })
        }
    }

    extension NSOrderedSet {
        /// The ordered set of the members' values for a key, without null. For `@count` and other collection operators the operator's result.
        /// - Precondition: each member has the key.
        public func value(forKey key: String) -> Any? { value(forKeyPath: key) }

        /// The members' values for a path of keys joined by dots.
        public func value(forKeyPath keyPath: String) -> Any? {
            if keyPath.hasPrefix("@") { return CollectionValues.made(of: self, keyPath) }
            return NSOrderedSet(array: CollectionValues.of(array, keyPath).compactMap { $0 })
        }
    }

    extension NSMutableDictionary {
        /// Sets the value of a key; nil removes the key.
        public func setValue(_ value: Any?, forKey key: String) {
            if let value { setObject(value, forKey: NSString(string: key)) } else { removeObject(forKey: NSString(string: key)) }
        }
    }

    private enum CollectionValues {
        /// The result of a collection operator at the start of a path.
        static func made(of collection: Any, _ path: String) -> Any? {
            let keys: [String]
            do { keys = try PredicateKeyPath.keys(path) } catch { misuse("A collection has no value: \(error).") }
            demand(
                keys.allSatisfy { !$0.hasPrefix("@") || PredicateKeyPath.operators.contains($0) },
                "\"\(path)\" has an unknown collection operator; the operators are \(PredicateKeyPath.operators.sorted().joined(separator: " ")).")
            return PredicateKeyPath.value(keys[...], of: collection).object
        }

        static func of(_ members: [Any], _ path: String) -> [Any?] {
            members.map { member in
                switch member {
                case let object as any EntityObject: object.value(forKeyPath: path)
                case let array as NSArray: array.value(forKeyPath: path)
                case let set as NSSet: set.value(forKeyPath: path)
                case let set as NSOrderedSet: set.value(forKeyPath: path)
                default: PredicateKeyPath.value(path.split(separator: ".").map(String.init)[...], of: member).object
                }
            }
        }
    }
#endif
