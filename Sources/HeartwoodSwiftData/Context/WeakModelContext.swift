/// A context for work that another thread orders and that the context's own actor does. The context may have gone by then.
struct WeakModelContext: @unchecked Sendable {
    // Unchecked: only the context's own actor or queue looks at it.
    weak var context: ModelContext?
}
