import Foundation

/// The facts about a path that commands look at before they open anything.
enum FileKind {
    static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    /// The bytes of a file; nil where there is none.
    static func size(_ path: String) -> UInt64? { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.uint64Value }
}
