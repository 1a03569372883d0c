/// The library that the client needs on the machine.
package enum PostgreSQLLibrary {
    /// Why the client cannot work on this machine; nil if it can. The first call loads the library.
    package static var fault: PostgreSQLError? {
        do throws(PostgreSQLError) {
            _ = try LibPQ.loaded.get()
            return nil
        } catch {
            return error
        }
    }

    /// Whether a batch takes one round trip. libpq has pipelines from version 14 on.
    package static var hasPipelines: Bool { (try? LibPQ.loaded.get())?.pipeline != nil }
}
