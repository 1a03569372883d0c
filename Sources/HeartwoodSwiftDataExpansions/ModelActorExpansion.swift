import HeartwoodSwiftText

/// What `@ModelActor` becomes.
enum ModelActorExpansion {
    /// Members of a public actor are public: they meet the requirements of a public protocol.
    static func members(_ declaration: SyntaxNode) -> String {
        var reader = DeclarationReader(SwiftText(bytes: declaration.bytes))
        let type = reader.type()
        let access = ["public", "package"].first { type?.has($0) == true }.map { $0 + " " } ?? ""
        return """
            \(access)nonisolated let modelExecutor: any HeartwoodSwiftData.ModelExecutor
            \(access)nonisolated let modelContainer: HeartwoodSwiftData.ModelContainer

            \(access)init(modelContainer: HeartwoodSwiftData.ModelContainer) {
                self.modelExecutor = HeartwoodSwiftData.DefaultSerialModelExecutor(modelContext: HeartwoodSwiftData.ModelContext(modelContainer))
                self.modelContainer = modelContainer
            }
            """
    }

    static func conformance(of type: String) -> String { "extension \(type): HeartwoodSwiftData.ModelActor {}" }
}
