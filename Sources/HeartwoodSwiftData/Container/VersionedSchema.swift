/// A version of a schema: the classes of it, which are usually nested in the type that conforms.
///
/// Source: https://developer.apple.com/documentation/swiftdata/versionedschema
public protocol VersionedSchema: SendableMetatype {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}

/// The versions of a schema, the oldest first, and how a store comes from one to the next.
///
/// Source: https://developer.apple.com/documentation/swiftdata/schemamigrationplan
public protocol SchemaMigrationPlan: SendableMetatype {
    static var schemas: [any VersionedSchema.Type] { get }
    static var stages: [MigrationStage] { get }
}

/// A step from one version of a schema to another.
///
/// Source: https://developer.apple.com/documentation/swiftdata/migrationstage
public enum MigrationStage: Sendable {
    /// What the two versions say is enough.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
    /// The program's own code runs before, on models of the old version, and after, on those of the new one.
    @preconcurrency case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type, willMigrate: (@Sendable (ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (ModelContext) throws -> Void)?)

    var versions: (from: any VersionedSchema.Type, to: any VersionedSchema.Type) {
        switch self {
        case .lightweight(let from, let to), .custom(let from, let to, _, _): (from, to)
        }
    }
}
