import HeartwoodPlatform

/// A directory as a destination: a disk, a mounted share, a folder that another program synchronises.
///
/// An object is written to a file with another name, synced, and renamed; then the directory is synced. A crash before the rename leaves a file
/// that no listing shows, and that `removeLeftovers` removes once it is a day old.
public struct DirectoryDestination: BackupDestination {
    public let path: String
    private let fileSystem: any DirectoryFileSystem

    #if canImport(Glibc) || canImport(Musl) || canImport(Android) || canImport(Darwin)
        /// - Parameter path: the directory, which `put` makes if there is none.
        public init(path: String) { self.init(path: path, fileSystem: POSIXFileSystem()) }
    #endif

    public init(path: String, fileSystem: any DirectoryFileSystem) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.fileSystem = fileSystem
    }

    public var description: String { path }

    private static let temporaryPrefix = ".uploading-"

    // MARK: Listing

    public func list(prefix: String) async throws -> [BackupObject] {
        var found: [BackupObject] = []
        try list(folder: "", prefix: prefix, into: &found)
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// - Parameter folder: a part of names, empty or with a slash at its end.
    private func list(folder: String, prefix: String, into found: inout [BackupObject]) throws {
        for entry in try entries(folder) {
            let name = folder + entry.name
            guard !entry.name.hasPrefix("."), Self.isPossible(name) else { continue }
            if entry.isDirectory {
                let inner = name + "/"
                if inner.hasPrefix(prefix) || prefix.hasPrefix(inner) { try list(folder: inner, prefix: prefix, into: &found) }
            } else if name.hasPrefix(prefix) {
                found.append(BackupObject(name: name, size: entry.size))
            }
        }
    }

    private func entries(_ folder: String) throws -> [DirectoryEntry] {
        do {
            return try fileSystem.entries(ofDirectory: folder.isEmpty ? path : path + "/" + folder.dropLast()) ?? []
        } catch {
            throw converted(error, folder)
        }
    }

    // MARK: Objects

    public func put(_ name: String, size: UInt64?, _ upload: some BackupUpload) async throws {
        try await put(name, size: size, upload, permittedAs: nil)
    }

    /// - Parameter model: the attributes of the file that the object tells of. Others can read it, and the folders that are made for it, only as
    ///   far as they can read that file.
    func put(_ name: String, size: UInt64?, _ upload: some BackupUpload, permittedAs model: FileAttributes?) async throws {
        let target = try location(name)
        var upload = upload
        do {
            try makeFolders(of: name, permittedAs: model)
            guard try fileSystem.identity(ofName: target) == nil else { throw Self.exists(target) }
            let beside = String(FilePath.directory(of: target)) + Self.temporaryPrefix + ArchiveName.hex(UInt64(bitPattern: fileSystem.now()))
                + "-" + ArchiveName.hex(fileSystem.random())
            let file = try fileSystem.create(beside, permittedAs: model)
            do {
                try await write(&upload, to: file)
                // Checked again, since the upload may have taken long.
                guard try fileSystem.identity(ofName: target) == nil else { throw Self.exists(target) }
                let directory = try fileSystem.openDirectory(of: beside)
                try fileSystem.rename(beside, to: target)
                try directory.sync()
            } catch {
                try? fileSystem.remove(beside)
                throw error
            }
        } catch let failure as UploadFailure {
            throw failure.error
        } catch let error as StoreError {
            throw converted(error, name)
        }
    }

    /// An error of the upload, which is not one of the directory's: the store's file may be damaged.
    private struct UploadFailure: Error {
        let error: any Error
    }

    private static func next(_ upload: inout some BackupUpload) async throws -> [UInt8]? {
        do {
            return try await upload.next()
        } catch {
            throw UploadFailure(error: error)
        }
    }

    private func write(_ upload: inout some BackupUpload, to file: any StorageFile) async throws {
        var offset: UInt64 = 0
        while let piece = try await Self.next(&upload) {
            try FileCreation.write(piece[...], to: file, at: offset)
            offset += UInt64(piece.count)
            try Task.checkCancellation()
        }
        try file.sync()
    }

    private static func exists(_ target: String) -> BackupError {
        BackupError(.exists, target, "there is an object of this name already", remedy: "Nothing is to be done; it is as it was.")
    }

    /// Makes the directories of a name, and their names durable.
    private func makeFolders(of name: String, permittedAs model: FileAttributes?) throws(StoreError) {
        var folder = path
        try makeFolder(folder, permittedAs: model)
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            try makeFolder(folder, permittedAs: model)
        }
    }

    private func makeFolder(_ folder: String, permittedAs model: FileAttributes?) throws(StoreError) {
        let isMade: Bool
        if let model { isMade = try fileSystem.makeDirectory(folder, permittedAs: model) } else { isMade = try fileSystem.makeDirectory(folder) }
        if isMade { try fileSystem.syncDirectory(of: folder) }
    }

    /// The attributes of an object's file; nil if there is none, or it cannot be opened.
    func attributes(of name: String) -> FileAttributes? {
        guard let target = try? location(name), let file = try? fileSystem.open(target, .readOnly) else { return nil }
        return try? file.attributes()
    }

    public func get(_ name: String, _ range: Range<UInt64>) async throws -> [UInt8] {
        let target = try location(name)
        do {
            let file = try fileSystem.open(target, .readOnly)
            let size = try file.size()
            guard range.upperBound <= size else {
                throw BackupError(
                    .damaged, target, at: size, "the object ends before byte \(range.upperBound)",
                    remedy: "`heartwood backup verify` shows what else is damaged.")
            }
            return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
                filled = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: range.lowerBound)
            }
        } catch let error as StoreError {
            throw converted(error, name)
        }
    }

    public func delete(_ name: String) async throws {
        let target = try location(name)
        do {
            guard try fileSystem.identity(ofName: target) != nil else { return }
            try fileSystem.remove(target)
            try fileSystem.syncDirectory(of: target)
        } catch {
            // Another program has deleted it meanwhile.
            guard error.code != .notFound else { return }
            throw converted(error, name)
        }
    }

    /// Removes the files that uploads of more than a day ago have left.
    /// - Returns: how many.
    @discardableResult
    public func removeLeftovers() throws -> Int {
        try removeLeftovers(folder: "", before: fileSystem.now() - 86_400_000_000)
    }

    private func removeLeftovers(folder: String, before time: Int64) throws -> Int {
        var count = 0
        for entry in try entries(folder) {
            if entry.isDirectory {
                if Self.isPossible(entry.name) { count += try removeLeftovers(folder: folder + entry.name + "/", before: time) }
            } else if let begun = Self.beginning(ofLeftover: entry.name), begun < time {
                count += try removeLeftover(folder + entry.name) ? 1 : 0
            }
        }
        return count
    }

    /// - Returns: false if another program has removed it meanwhile.
    private func removeLeftover(_ name: String) throws -> Bool {
        do {
            try fileSystem.remove(path + "/" + name)
            return true
        } catch {
            guard error.code != .notFound else { return false }
            throw converted(error, name)
        }
    }

    private static func beginning(ofLeftover name: String) -> Int64? {
        guard name.hasPrefix(temporaryPrefix) else { return nil }
        return ArchiveName.hex(name.dropFirst(temporaryPrefix.count).prefix(16)).map { Int64(bitPattern: $0) }
    }

    // MARK: Names

    private func location(_ name: String) throws -> String {
        guard Self.isPossible(name) else {
            throw BackupError(
                .invalidArgument, path, "no object can have the name \"\(name)\"",
                remedy: "Use letters, digits, dots, underscores and hyphens, in parts joined by slashes.")
        }
        return path + "/" + name
    }

    private static func isPossible(_ name: String) -> Bool {
        guard name.utf8.count <= 512 else { return false }
        return name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part != "." && part != ".." && part.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        }
    }

    // MARK: Errors

    private func converted(_ error: StoreError, _ name: String) -> BackupError {
        let code: BackupError.Code = switch error.code {
        case .notFound: .notFound
        case .exists: .exists
        case .noSpace: .full
        case .permissionDenied, .readOnly: .refused
        case .isDirectory, .notAStore: .foreign
        case .invalidArgument: .invalidArgument
        default: .unreachable
        }
        let remedy = switch code {
        // Room does not help against a limit of the process or the file system.
        case .full where error.systemErrno == EFBIG: error.remedy
        case .full: "Make room at the destination, by `heartwood backup prune` for example; what was put before is whole."
        case .refused: "Check the permissions of the directory, and whether its file system may be written."
        default: error.remedy
        }
        return BackupError(code, "\(path)/\(name)", at: error.offset, error.message, remedy: remedy)
    }
}
