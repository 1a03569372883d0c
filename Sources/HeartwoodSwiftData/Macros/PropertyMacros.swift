/// States how an attribute is stored.
///
/// - Parameters:
///   - options: what the attribute is to do beside holding a value.
///   - originalName: the attribute's name in earlier versions of the schema.
///   - hashModifier: text that makes the attribute another one for migrations.
@attached(peer)
public macro Attribute(_ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil)
    = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "AttributePropertyMacro")

/// States what a relationship does on deletion, how many models it has, and which relationship is its inverse.
///
/// - Parameters:
///   - options: what the relationship is to do beside holding models.
///   - deleteRule: what happens to the models of the relationship when the model that has it is deleted.
///   - minimumModelCount: the least number of models; 0 or nil for any.
///   - maximumModelCount: the greatest number of models; 0 or nil for any.
///   - originalName: the relationship's name in earlier versions of the schema.
///   - inverse: the relationship of the other model that is the same in the other direction.
///   - hashModifier: text that makes the relationship another one for migrations.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify, minimumModelCount: Int? = 0,
    maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "RelationshipPropertyMacro")

/// Keeps a property out of the schema. A stored one needs an initial value.
@attached(peer)
public macro Transient() = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "TransientPropertyMacro")

/// Makes a property one over the model's backing data. ``Model()`` adds it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty() = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "PersistedPropertyMacro")

/// Makes a property one whose value a transformer stores. ``Model()`` adds it.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _TransformablePersistedProperty() = #externalMacro(module: "HeartwoodSwiftDataMacros", type: "TransformablePersistedPropertyMacro")
