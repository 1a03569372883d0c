import Observation

/// Makes a class a model: its stored properties are persisted, and an instance can be inserted into a ``ModelContext``.
///
/// A property that is computed, static, or marked with ``Transient()`` stays the class's own.
@attached(
    member, conformances: Observable, PersistentModel, Sendable, names: named(_$backingData), named(persistentBackingData), named(schemaMetadata),
    named(init), named(_$observationRegistrar), named(_SwiftDataNoType), named(access), named(withMutation), named(_$storages), named(_$Position),
    named(_$observed))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "PersistentModelMacro")

/// Makes an actor own a ``ModelContext``, on whose executor it runs.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "PersistentModelActorMacro")

/// Makes the values of properties unique over all models of the class: one property, or several together.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...)
    = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "UniqueConstraintsMacro")

/// Makes indexes, each over one property or over several.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...)
    = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "IndexMacro")

/// Makes indexes of the given kinds.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...)
    = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "IndexMacro")
