/// An object by which a running restore keeps its archives from being pruned. It names them, one a line, and its own name has the time at which
/// it stops to count.
final class BackupPin {
    /// `STORE/pins/RANDOM-EXPIRY.pin`
    struct Name: Hashable {
        var storeID: StoredUUID
        var random: UInt64
        /// Microseconds since 1970.
        var expiry: Int64

        var text: String {
            Self.folder(of: storeID) + ArchiveName.hex(random) + "-" + ArchiveName.hex(UInt64(bitPattern: expiry)) + ".pin"
        }

        static func folder(of storeID: StoredUUID) -> String { ArchiveName.folder(of: storeID) + "pins/" }

        init(storeID: StoredUUID, random: UInt64, expiry: Int64) {
            self.storeID = storeID
            self.random = random
            self.expiry = expiry
        }

        /// - Returns: nil if the text is not the name of a pin.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1] == "pins", parts[2].hasSuffix(".pin"), let storeID = ArchiveName.id(parts[0]) else { return nil }
            let fields = parts[2].dropLast(4).split(separator: "-", omittingEmptySubsequences: false)
            guard fields.count == 2, let random = ArchiveName.hex(fields[0]), let expiry = ArchiveName.hex(fields[1]) else { return nil }
            self.init(storeID: storeID, random: random, expiry: Int64(bitPattern: expiry))
        }
    }

    private let destination: any BackupDestination
    private let fileSystem: any FileSystem
    private let storeID: StoredUUID
    private let content: [UInt8]
    /// The plan's base archive.
    private let base: ArchiveName
    private var name: Name?
    /// Whether the destination takes no pin.
    private var isRefused = false

    /// A pin counts for this long, in microseconds, and is renewed when half of it has passed.
    static let lifetime: Int64 = 3_600_000_000

    init(_ plan: RestorePlan, _ storeID: StoredUUID, at destination: any BackupDestination, _ fileSystem: any FileSystem) {
        self.destination = destination
        self.fileSystem = fileSystem
        self.storeID = storeID
        base = plan.steps[0].archive.name
        content = Array(plan.steps.map { $0.archive.name.text + "\n" }.joined().utf8)
    }

    /// Sets the pin, or sets it anew before it expires. A destination that refuses it, because it may only be read, is restored from all the
    /// same.
    func renew() async throws {
        let now = fileSystem.now()
        guard !isRefused, !isFresh(now) else { return }
        let new = Name(storeID: storeID, random: fileSystem.random(), expiry: now + Self.lifetime)
        do {
            try await destination.put(
                new.text, size: UInt64(content.count), BackupBytes(content), permittedAs: destination.attributes(of: base))
        } catch let error as BackupError where error.code == .refused || error.code == .full {
            isRefused = true
            return
        }
        await remove()
        name = new
    }

    /// Whether the pin need not be renewed yet. One that was set before the clock was set back counts for less long than it seems to.
    private func isFresh(_ now: Int64) -> Bool {
        guard let name else { return false }
        return (Self.lifetime / 2 + 1...Self.lifetime).contains(name.expiry &- now)
    }

    /// Removes the pin. One that cannot be removed expires.
    func remove() async {
        if let name { try? await destination.delete(name.text) }
        name = nil
    }
}
