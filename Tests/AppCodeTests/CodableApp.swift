import CoreData
import Foundation

// Objects that come as JSON and go as JSON, with a colour that a transformer of the app's own keeps.

extension CodingUserInfoKey {
    static let context = CodingUserInfoKey(rawValue: "managedObjectContext")!
}

enum DecoderConfigurationError: Error {
    case missingManagedObjectContext
}

final class Colour: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { return true }
    let red: Double

    init(red: Double) { self.red = red }
    required init?(coder: NSCoder) { red = coder.decodeDouble(forKey: "red") }
    func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
    override func isEqual(_ object: Any?) -> Bool { (object as? Colour)?.red == red }
}

final class ColourTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { return NSData.self }
    override class func allowsReverseTransformation() -> Bool { return true }

    override func transformedValue(_ value: Any?) -> Any? {
        guard let colour = value as? Colour else { return nil }
        return "\(colour.red)".data(using: .utf8)
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, let text = String(data: data, encoding: .utf8), let red = Double(text) else { return nil }
        return Colour(red: red)
    }
}

extension NSValueTransformerName {
    static let colour = NSValueTransformerName(rawValue: "ColourTransformer")
}

public class Bookmark: NSManagedObject, Codable {
    enum CodingKeys: String, CodingKey { case id, title, url, isRead = "read", created }

    @NSManaged var id: UUID?
    @NSManaged var title: String
    @NSManaged var url: URL?
    @NSManaged var isRead: Bool
    @NSManaged var visits: Int32
    @NSManaged var createdAt: Date?
    @NSManaged var colour: Colour?
    @NSManaged var group: BookmarkGroup?

    public required convenience init(from decoder: Decoder) throws {
        guard let context = decoder.userInfo[CodingUserInfoKey.context] as? NSManagedObjectContext else {
            throw DecoderConfigurationError.missingManagedObjectContext
        }
        self.init(context: context)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(UUID.self, forKey: .id)
        title = try container.decode(String.self, forKey: .title)
        url = try container.decodeIfPresent(URL.self, forKey: .url)
        isRead = try container.decodeIfPresent(Bool.self, forKey: .isRead) ?? false
        if let created = try container.decodeIfPresent(Date.self, forKey: .created) { createdAt = created }
    }

    public func encode(to encoder: Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(title, forKey: .title)
        try container.encodeIfPresent(url, forKey: .url)
        try container.encode(isRead, forKey: .isRead)
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        createdAt = Date(timeIntervalSinceReferenceDate: 1)
    }

    // A number without nil has nothing to show for it.
    public override func setNilValueForKey(_ key: String) {
        if key == #"visits"# { visits = -1 } else { super.setNilValueForKey(key) }
    }
}

final class BookmarkGroup: NSManagedObject, Codable {
    enum CodingKeys: CodingKey { case name, bookmarks }

    @NSManaged var name: String
    @NSManaged var bookmarks: NSOrderedSet?

    convenience init(from decoder: Decoder) throws {
        guard let context = decoder.userInfo[.context] as? NSManagedObjectContext,
            let entity = NSEntityDescription.entity(forEntityName: "BookmarkGroup", in: context)
        else { throw DecoderConfigurationError.missingManagedObjectContext }
        self.init(entity: entity, insertInto: context)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        bookmarks = NSOrderedSet(array: try container.decode([Bookmark].self, forKey: .bookmarks))
    }

    func encode(to encoder: Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(bookmarks?.array as? [Bookmark] ?? [], forKey: .bookmarks)
    }
}
