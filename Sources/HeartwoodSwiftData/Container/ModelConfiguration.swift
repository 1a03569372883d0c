import Foundation
import Heartwood

/// Where a container keeps models, and which.
///
/// Source: https://developer.apple.com/documentation/swiftdata/modelconfiguration
public struct ModelConfiguration: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// Accepted for the sake of sources: nothing is sent to CloudKit here.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/modelconfiguration/cloudkitdatabase-swift.struct
    public struct CloudKitDatabase: Sendable {
        let name: String?
        public static var automatic: CloudKitDatabase { CloudKitDatabase(name: nil) }
        public static var none: CloudKitDatabase { CloudKitDatabase(name: nil) }
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase { CloudKitDatabase(name: privateDBName) }
    }

    /// Accepted for the sake of sources: there are no groups of apps here, and the store is where it is without one.
    ///
    /// Source: https://developer.apple.com/documentation/swiftdata/modelconfiguration/groupcontainer-swift.struct
    public struct GroupContainer: Sendable {
        let name: String?
        public static var automatic: GroupContainer { GroupContainer(name: nil) }
        public static var none: GroupContainer { GroupContainer(name: nil) }
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(name: groupName) }
    }

    public let url: URL
    public let name: String
    public let groupAppContainerIdentifier: String?
    public let cloudKitContainerIdentifier: String?
    public let groupContainer: GroupContainer
    public let cloudKitDatabase: CloudKitDatabase
    /// nil for the whole schema of the container.
    public var schema: Schema?
    public let allowsSave: Bool
    public let isStoredInMemoryOnly: Bool
    /// Whether the program has given the name.
    let isNamed: Bool
    /// The past state of the store that a container shows, which it cannot change; nil for the present one. An addition of Heartwood.
    public var asOf: StoreMoment?

    public init(isStoredInMemoryOnly: Bool = false) { self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly) }

    public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(types), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A store in the directory of the app's data, in a file with the name; "default" without one.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let file = name ?? "default"
        self.init(
            file, isNamed: name != nil, schema,
            url: isStoredInMemoryOnly
                ? URL(fileURLWithPath: "/dev/null") : NSPersistentContainer.defaultDirectoryURL().appending(path: "\(file).store"),
            isStoredInMemoryOnly, allowsSave, groupContainer, cloudKitDatabase)
    }

    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name ?? url.deletingPathExtension().lastPathComponent, isNamed: name != nil, schema, url: url, url.path == "/dev/null", allowsSave,
            .automatic, cloudKitDatabase)
    }

    private init(
        _ name: String, isNamed: Bool, _ schema: Schema?, url: URL, _ isStoredInMemoryOnly: Bool, _ allowsSave: Bool,
        _ groupContainer: GroupContainer, _ cloudKitDatabase: CloudKitDatabase
    ) {
        self.name = name
        self.isNamed = isNamed
        self.schema = schema
        self.url = url
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
        groupAppContainerIdentifier = groupContainer.name
        cloudKitContainerIdentifier = cloudKitDatabase.name
    }

    /// The configuration with another name and the same store.
    func renamed(_ name: String) -> ModelConfiguration {
        ModelConfiguration(
            name, isNamed: isNamed, schema, url: url, isStoredInMemoryOnly, allowsSave, groupContainer, cloudKitDatabase)
    }

    public var id: URL { url }

    /// The name of a file has at most 255 bytes on the file systems in use.
    private static let fileNameMax = 255

    /// - Throws: `SwiftDataError.configurationFileNameTooLong`, `.configurationFileNameContainsInvalidCharacters`.
    public func validate() throws {
        let file = url.lastPathComponent
        guard file.utf8.count <= Self.fileNameMax else {
            throw SwiftDataError.configurationFileNameTooLong.because(
                "The file's name has \(file.utf8.count) bytes; \(Self.fileNameMax) are possible.")
        }
        guard !name.isEmpty, !name.contains("/"), !file.contains("\0") else {
            throw SwiftDataError.configurationFileNameContainsInvalidCharacters.because("The name \"\(name)\" is empty or contains a slash.")
        }
    }

    public static func == (a: ModelConfiguration, b: ModelConfiguration) -> Bool {
        a.name == b.name && a.url == b.url && a.schema == b.schema && a.allowsSave == b.allowsSave && a.isStoredInMemoryOnly == b.isStoredInMemoryOnly
            && a.asOf == b.asOf
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(url)
    }

    public var debugDescription: String {
        "ModelConfiguration - name: \(name), url: \(url), allowsSave: \(allowsSave), isStoredInMemoryOnly: \(isStoredInMemoryOnly)"
    }
}
