import Foundation
import Heartwood
import Testing

/// URLs whose paths are not UTF-8: Foundation gives another path for them, or none.
@Suite struct UndecodablePathTests {
    @Test
    func `A URL whose path is no UTF-8 opens no store and makes none`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("undecodable-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let bytes = directory.path.utf8.map { CChar(bitPattern: $0) } + [47, 120, -1, 0]
        let urls = [
            bytes.withUnsafeBufferPointer {
                URL(fileURLWithFileSystemRepresentation: $0.baseAddress!, isDirectory: false, relativeTo: nil)
            },
            try #require(URL(string: directory.absoluteString + "x%FF")),
        ]
        for url in urls {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            let error = #expect(throws: NSError.self) {
                try coordinator.addPersistentStore(ofType: NSBinaryStoreType, configurationName: nil, at: url, options: nil)
            }
            #expect(error?.code == NSPersistentStoreOpenError, "\(String(describing: error))")
            #expect(error?.localizedDescription.contains("not UTF-8") == true, "\(String(describing: error))")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }
}
