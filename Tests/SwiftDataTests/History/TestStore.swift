import Foundation
import HeartwoodSwiftData

/// A store in a file of its own, which goes with this.
final class TestStore {
    let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).store")

    var name: String { url.deletingPathExtension().lastPathComponent }

    deinit { try? FileManager.default.removeItem(at: url) }

    func container(_ types: any PersistentModel.Type...) throws -> ModelContainer {
        try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(url: url)])
    }

    func trips() throws -> ModelContainer { try container(HistoryTrip.self, HistoryVehicle.self, HistoryCar.self) }
}
