import Foundation
import RecordLog

@testable import Heartwood

extension TestStack {
    /// Gives each table another layout, with its columns in the opposite order, and adds the store again. Existing rows keep their layout until
    /// they are written. Objects registered in contexts are gone.
    func changeLayouts() throws {
        context.reset()
        try coordinator.remove(persistentStore)
        let log = try LogStore.open(path: url.path, options: StoredModel.options)
        try log.write { transaction in
            for table in transaction.catalog.tables where !table.name.hasPrefix("link:") {
                _ = try transaction.addLayout(to: table.id, columns: table.currentLayout.columns.reversed())
            }
        }
        try log.close()
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: url, options: [NSRecordLogDurabilityOption: "none"])
        store.indexing.wait()
    }
}
