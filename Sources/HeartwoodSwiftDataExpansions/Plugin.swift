import HeartwoodSwiftText

/// Answers the compiler's messages.
enum Plugin {
    static func answer(to message: Message) -> [UInt8] {
        if message["getCapability"] != nil {
            // Swift 5.9 to 6.3 speak version 7. Without features, so that the compiler loads no library into this process.
            return Array("{\"getCapabilityResult\":{\"capability\":{\"protocolVersion\":7,\"features\":[]}}}".utf8)
        }
        if let request = message["expandAttachedMacro"] { return attached(request).encoded }
        // #Index and #Unique are read by @Model, as members of the class.
        if message["expandFreestandingMacro"] != nil { return Answer(source: "").encoded }
        return Answer().encoded
    }

    private static func attached(_ request: Message) -> Answer {
        let macro = request["macro"]?["typeName"]?.string ?? ""
        let role = request["macroRole"]?.string ?? ""
        guard let declaration = SyntaxNode(request["declSyntax"]) else { return Answer() }
        switch (macro, role) {
        case ("PersistentModelMacro", "member"):
            return ModelMembers.expand(declaration, conformances: request["conformanceListSyntax"]?["source"]?.string)
        case ("PersistentModelMacro", "memberAttribute"):
            guard let parent = request["parentDeclSyntax"]?["source"]?.stringBytes, DeclarationReader.keyword(of: parent) == "class" else { break }
            return Answer(source: ModelMembers.attribute(for: declaration))
        case ("PersistentModelMacro", "extension"):
            return ModelMembers.extensions(declaration, request)
        case ("PersistentModelActorMacro", "member"): return Answer(source: ModelActorExpansion.members(declaration))
        case ("PersistentModelActorMacro", "extension"):
            guard let type = request["extendedTypeSyntax"]?["source"]?.string, request["conformanceListSyntax"] != nil else { break }
            return Answer(source: ModelActorExpansion.conformance(of: type))
        case ("PersistedPropertyMacro", "accessor"): return PersistedProperty.accessors(declaration, isTransformable: false)
        case ("TransformablePersistedPropertyMacro", "accessor"): return PersistedProperty.accessors(declaration, isTransformable: true)
        case ("PersistedPropertyMacro", "peer"), ("TransformablePersistedPropertyMacro", "peer"): return PersistedProperty.peer(declaration)
        // @Attribute, @Relationship and @Transient are read by @Model.
        default: break
        }
        return Answer(source: "")
    }
}
