import Foundation
import Heartwood

/// A value of an attribute that may lie in a file of its own, as its column has it.
///
/// (1) The first byte is a tag: 1, and the value follows; 2, and the name of a file follows in 36 ASCII characters, then a zero. Facts, "external".
/// (2) The file is `.NAME_SUPPORT/_EXTERNAL_DATA/<name>` beside the store; NAME is the store's name without its extension. Facts, "external".
enum ExternalValue {
    case inline(UnsafeRawBufferPointer)
    case file(String)

    static let inlineTag: UInt8 = 1

    /// - Returns: nil if the bytes have another form.
    init?(_ bytes: UnsafeRawBufferPointer) {
        switch bytes.first {
        case Self.inlineTag: self = .inline(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        case 2:
            let name = bytes.dropFirst().prefix { $0 != 0 }
            // A name, and no path: it must not lead out of the directory.
            guard name.count == 36, bytes.count <= 38, name.allSatisfy(Self.isNamePart) else { return nil }
            self = .file(String(decoding: name, as: UTF8.self))
        default: return nil
        }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: false
        }
    }

    static func directory(of store: String) -> URL {
        let url = URL(fileURLWithPath: store)
        let name = url.deletingPathExtension().lastPathComponent
        return url.deletingLastPathComponent().appendingPathComponent(".\(name)_SUPPORT/_EXTERNAL_DATA")
    }

    /// A store behind a symbolic link has its files beside the link, or beside the file to which it leads.
    private static func file(_ name: String, of store: String) -> URL {
        let file = directory(of: store).appendingPathComponent(name)
        guard type(of: file) == nil else { return file }
        let other = directory(of: URL(fileURLWithPath: store).resolvingSymlinksInPath().path).appendingPathComponent(name)
        return type(of: other) == nil ? file : other
    }

    /// Whether a value's file is there. A link is there too, but is not read.
    static func isThere(_ name: String, of store: String) -> Bool {
        [.typeRegular, .typeSymbolicLink].contains(type(of: file(name, of: store)))
    }

    /// Of the file itself, not of one that it leads to.
    private static func type(of file: URL) -> FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
    }

    /// A store may be from anyone. A link in its folders could lead to any file of the machine, and its content would be shown as a value. So the
    /// file is none, and its folders lie in the store's, wherever that is.
    /// - Throws: 257.
    private static func checkPlace(_ file: URL, _ store: String) throws {
        guard isLink(file) else { return }
        throw CoreDataFileError.make(
            CocoaError.Code.fileReadNoPermission.rawValue, store,
            "the value's file \(file.path) is a symbolic link or lies behind one, which may lead to any file, and is not read",
            "If you trust the store, put the file itself in the link's place.")
    }

    private static func isLink(_ file: URL) -> Bool {
        guard type(of: file) != .typeSymbolicLink else { return true }
        let folder = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return !file.resolvingSymlinksInPath().path.hasPrefix(folder.resolvingSymlinksInPath().path + "/")
    }

    /// Whether a value's file is a link, or lies behind one.
    static func isLink(_ name: String, of store: String) -> Bool { isLink(file(name, of: store)) }

    /// - Throws: 256 if the file cannot be read, 257 if it is a link.
    static func open(_ name: String, of store: String) throws -> FileHandle {
        let file = file(name, of: store)
        try checkPlace(file, store)
        do {
            return try FileHandle(forReadingFrom: file)
        } catch {
            throw unreadable(file, store, error)
        }
    }

    private static func unreadable(_ file: URL, _ store: String, _ error: any Error) -> NSError {
        CoreDataFileError.make(
            CocoaError.Code.fileReadUnknown.rawValue, store, "the value's file \(file.path) cannot be read: \(error.localizedDescription)",
            "Check the file's permissions.")
    }

    /// - Throws: 260 if the file is not there, 256 if it cannot be read, 257 if it is a link.
    static func read(_ name: String, of store: String) throws -> Data {
        let file = file(name, of: store)
        try checkPlace(file, store)
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CoreDataFileError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, store, "the value's file \(file.path) is not there",
                "Copy the directory .\(URL(fileURLWithPath: store).deletingPathExtension().lastPathComponent)_SUPPORT together with the store.")
        }
        do {
            return try Data(contentsOf: file)
        } catch {
            throw unreadable(file, store, error)
        }
    }
}
