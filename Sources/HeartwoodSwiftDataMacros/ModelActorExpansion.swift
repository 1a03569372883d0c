/// What `@ModelActor` becomes.
enum ModelActorExpansion {
    static let members = """
        nonisolated let modelExecutor: any HeartwoodSwiftData.ModelExecutor
        nonisolated let modelContainer: HeartwoodSwiftData.ModelContainer

        init(modelContainer: HeartwoodSwiftData.ModelContainer) {
            self.modelExecutor = HeartwoodSwiftData.DefaultSerialModelExecutor(modelContext: HeartwoodSwiftData.ModelContext(modelContainer))
            self.modelContainer = modelContainer
        }
        """

    static func conformance(of type: String) -> String { "extension \(type): HeartwoodSwiftData.ModelActor {}" }
}
