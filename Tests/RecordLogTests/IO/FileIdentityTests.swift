import Foundation
import Testing

@testable import RecordLog

/// Asks for the identity of the file at a path, with whichever call the system has.
@Suite struct FileIdentityTests {
    @Test
    func `A path and the file opened by it have one identity`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("identity-\(UUID())").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let system = POSIXFileSystem(), path = directory + "/file", other = directory + "/other", link = directory + "/link"
        let file = try system.open(path, .create)
        _ = try system.open(other, .create)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try system.identity(of: path) == file.identity)
        #expect(try system.identity(of: link) == file.identity)
        #expect(try system.identity(of: other) != file.identity)
        #expect(try system.identity(of: directory + "/none") == nil)
        let error = #expect(throws: StoreError.self) { try system.identity(of: path + "/below") }
        #expect(error?.code == .io && error?.path == path + "/below")
        try system.rename(other, to: path)
        #expect(try system.identity(of: path) != file.identity)
    }
}
