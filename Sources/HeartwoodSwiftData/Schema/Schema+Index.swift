extension Schema {
    /// What `#Index` says.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/index
    public final class Index<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, KeyPathGroups {
        public enum Types<P: PersistentModel>: Equatable, Hashable {
            case binary([PartialKeyPath<P>])
            /// Kept as a binary index: the engine has no R-trees.
            case rtree([PartialKeyPath<P>])

            var keyPaths: [PartialKeyPath<P>] {
                switch self {
                case .binary(let paths), .rtree(let paths): paths
                }
            }
        }

        public let indices: [Types<T>]
        public var name = "Index"
        public var originalName = ""
        public var valueType: any Any.Type = Never.self
        public var isUnique: Bool { false }

        public init(_ indices: Types<T>...) { self.indices = indices }
        public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }

        var keyPathGroups: [[AnyKeyPath]] { indices.map(\.keyPaths) }

        public var debugDescription: String { "Schema.Index<\(T.self)>(\(indices))" }
        public static func == (a: Index, b: Index) -> Bool { a === b || a.indices == b.indices }
        public func hash(into hasher: inout Hasher) { hasher.combine(indices) }

        public enum CodingKeys: String, CodingKey { case indices }

        /// Key paths have no coded form; the names of the properties stand for them.
        public init(from decoder: any Decoder) throws {
            let names = try decoder.container(keyedBy: CodingKeys.self).decode([[String]].self, forKey: .indices)
            indices = try names.map { .binary(try KeyPathNames.keyPaths($0, of: T.self, decoder)) }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(indices.map { try KeyPathNames.names($0.keyPaths, encoder) }, forKey: .indices)
        }
    }

    /// What `#Unique` says.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/schema/unique
    public final class Unique<T: PersistentModel>: SchemaProperty, CustomDebugStringConvertible, KeyPathGroups {
        public let constraints: [[PartialKeyPath<T>]]
        public var name = "Unique"
        public var originalName = ""
        public var valueType: any Any.Type = Never.self
        public var isUnique: Bool { true }

        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

        var keyPathGroups: [[AnyKeyPath]] { constraints }

        public var debugDescription: String { "Schema.Unique<\(T.self)>(\(constraints))" }
        public static func == (a: Unique, b: Unique) -> Bool { a === b || a.constraints == b.constraints }
        public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }

        public enum CodingKeys: String, CodingKey { case constraints }

        public init(from decoder: any Decoder) throws {
            let names = try decoder.container(keyedBy: CodingKeys.self).decode([[String]].self, forKey: .constraints)
            constraints = try names.map { try KeyPathNames.keyPaths($0, of: T.self, decoder) }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(constraints.map { try KeyPathNames.names($0, encoder) }, forKey: .constraints)
        }
    }
}

/// Names in place of key paths, for coding.
enum KeyPathNames {
    static func names(_ keyPaths: [AnyKeyPath], _ encoder: any Encoder) throws -> [String] {
        try keyPaths.map { keyPath in
            guard let root = type(of: keyPath).rootType as? any PersistentModel.Type,
                let keys = try? PropertyPath.of(keyPath, root: ModelType.of(root)).keys
            else {
                throw EncodingError.invalidValue(
                    keyPath, .init(codingPath: encoder.codingPath, debugDescription: "The key path reads no property of a model."))
            }
            return keys.joined(separator: ".")
        }
    }

    static func keyPaths<T: PersistentModel>(_ names: [String], of type: T.Type, _ decoder: any Decoder) throws -> [PartialKeyPath<T>] {
        try names.map { name in
            guard let keyPath = ModelType.of(type).byName[name]?.keyPath as? PartialKeyPath<T> else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "\(type) has no property \(name)."))
            }
            return keyPath
        }
    }
}
