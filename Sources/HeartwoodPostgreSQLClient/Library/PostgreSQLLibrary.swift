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

    /// Looks for the library under other names.
    /// - Throws: `noLibrary`, with the package to install.
    package static func find(_ names: [String]) throws(PostgreSQLError) { _ = try LibPQ.load(names) }

    /// Whether a batch takes one round trip. libpq has pipelines from version 14 on.
    package static var hasPipelines: Bool { (try? LibPQ.loaded.get())?.pipeline != nil }
}
