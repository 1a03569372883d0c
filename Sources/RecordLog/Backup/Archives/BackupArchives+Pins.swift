extension BackupArchives {
    /// The names of the archives that running restores need.
    /// - Parameter removesExpired: whether to delete pins of restores that have not renewed them.
    func pinned(_ storeID: StoredUUID, removesExpired: Bool) async throws -> Set<String> {
        let now = fileSystem.now()
        var found: Set<String> = []
        for object in try await destination.list(prefix: BackupPin.Name.folder(of: storeID)) {
            guard let name = BackupPin.Name(object.name) else { continue }
            guard name.expiry > now else {
                if removesExpired { try await destination.delete(object.name) }
                continue
            }
            do {
                let bytes = try await destination.get(object.name, 0..<min(object.size, Self.pinMax))
                for line in bytes.split(separator: UInt8(ascii: "\n")) { found.insert(String(decoding: line, as: UTF8.self)) }
            } catch let error as BackupError where error.code == .notFound {
                // The restore has ended.
            }
        }
        return found
    }

    /// The most bytes of a pin that are read.
    private static let pinMax: UInt64 = 64 << 20
}
