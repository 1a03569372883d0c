import Foundation
import Heartwood
import Synchronization

/// The files of external data that readers of one store missed. A store that has this list gives nil for such a value in place of an error.
package final class MissingValueFiles: Sendable {
    /// The key of the list among a store's options.
    package static let option = "HeartwoodMissingValueFiles"

    private let names = Mutex<(known: Set<String>, findings: StoreFindings)>(([], StoreFindings()))

    package init() {}

    package var findings: StoreFindings { names.withLock { $0.findings } }

    /// Notes a file once. Memory is bound by the number of files that are missing.
    func note(_ name: String, of store: String) {
        names.withLock { names in
            guard names.known.insert(name).inserted else { return }
            names.findings.add(ExternalValue.directory(of: store).appendingPathComponent(name).path)
        }
    }
}
