import CoreData
import Foundation

// Classes written by hand, in the forms that apps have them.

class Quake: NSManagedObject {
    @NSManaged var magnitude: Float
    @NSManaged var place: String
    @NSManaged var time: Date
    @NSManaged var code: String

    @discardableResult
    func update(from properties: [String: Any]) throws -> Quake {
        guard let code = properties["code"] as? String else { throw CocoaError(.validationMissingMandatoryProperty) }
        self.code = code
        return self
    }
}

extension Quake: Identifiable {}

/// An `@objc` enumeration on Apple's platforms.
enum Course: Int16 { case starter = 10, main, dessert }

final class Recipe: NSManagedObject, Managed {
    enum Difficulty: Int16 { case easy, medium, hard }
    enum Status: Int16 { case draft, published }

    @NSManaged fileprivate(set) var title: String
    @NSManaged public private(set) var createdAt: Date
    @NSManaged var updatedAt: Date?
    @NSManaged var rating: NSNumber?
    @NSManaged fileprivate var difficultyRaw: Int16
    @NSManaged var course: Course
    @NSManaged var isFavourite: Bool
    @NSManaged var identifier: UUID?
    @NSManaged var website: URL?
    @NSManaged var price: NSDecimalNumber?
    @NSManaged var thumbnail: Data?
    @NSManaged var flavours: [String]?
    @NSManaged var chef: Chef?
    @NSManaged var ingredients: NSOrderedSet
    @NSManaged var tags: Set<Tag>
    @NSManaged fileprivate var primitiveTitle: String?
    @NSManaged fileprivate var primitiveCreatedAt: Date
    @NSManaged private var primitiveUpdatedAt: Date?

    static var defaultSortDescriptors: [NSSortDescriptor] {
        return [NSSortDescriptor(key: "title", ascending: true)]
    }

    var difficulty: Difficulty {
        get { return Difficulty(rawValue: difficultyRaw) ?? .easy }
        set { difficultyRaw = newValue.rawValue }
    }

    var status: Status {
        get {
            willAccessValue(forKey: "status")
            defer { didAccessValue(forKey: "status") }
            return Status(rawValue: primitiveValue(forKey: "status") as! Int16)!
        }
        set {
            willChangeValue(forKey: "status")
            setPrimitiveValue(newValue.rawValue, forKey: "status")
            didChangeValue(forKey: "status")
        }
    }

    var sortedTags: [Tag] { tags.sorted { $0.name < $1.name } }
    private var made = 0
    var loads: Int { made }

    static func insert(into context: NSManagedObjectContext, title: String) -> Recipe {
        let recipe: Recipe = context.insertObject()
        recipe.title = title
        return recipe
    }

    func rename(_ title: String) { self.title = title }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveCreatedAt = Date(timeIntervalSinceReferenceDate: 5)
        setPrimitiveValue(UUID(), forKey: "identifier")
        made += 1
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        setPrimitiveValue("\(title), fetched", forKey: "summary")
    }

    override func willSave() {
        super.willSave()
        if !isDeleted, changedValues().keys.contains("title") { primitiveUpdatedAt = Date(timeIntervalSinceReferenceDate: 9) }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        if title == "Poison" {
            throw NSError(
                domain: NSCocoaErrorDomain, code: NSManagedObjectValidationError,
                userInfo: [NSValidationKeyErrorKey: "title", NSValidationObjectErrorKey: self, NSLocalizedDescriptionKey: "Not that."])
        }
    }
}

class Ingredient: NSManagedObject {
    @NSManaged public var name: String?
    @NSManaged public var amount: Double
    @NSManaged public var recipe: Recipe?

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        label = "made"
    }

    init(name: String, recipe: Recipe, context: NSManagedObjectContext) {
        let entity = NSEntityDescription.entity(forEntityName: "Ingredient", in: context)!
        super.init(entity: entity, insertInto: context)
        self.name = name
        self.recipe = recipe
    }

    var label = ""
}

public class Tag: NSManagedObject, Managed {
    @NSManaged public var name: String
    @NSManaged public var recipes: NSSet?

    convenience init(name: String, context: NSManagedObjectContext) {
        self.init(context: context)
        self.name = name
    }

    static func named(_ name: String, in context: NSManagedObjectContext) -> Tag {
        findOrCreate(in: context, matching: NSPredicate(format: "%K == %@", "name", name)) { $0.name = name }
    }
}

extension Tag {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<Tag> { return NSFetchRequest<Tag>(entityName: "Tag") }

    @NSManaged func addToRecipes(_ value: Recipe)
    @NSManaged func removeFromRecipes(_ value: Recipe)
    @NSManaged func addToRecipes(_ values: NSSet)
}

class Chef: NSManagedObject {
    @NSManaged var name: String?
    @NSManaged var recipes: Set<Recipe>?
}

public class TodoItem: NSManagedObject {
    var title: String { text ?? "" }
}

final class FlavourTransformer: NSSecureUnarchiveFromDataTransformer {
    static let name = NSValueTransformerName(rawValue: String(describing: FlavourTransformer.self))

    override static var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSString.self] }

    public static func register() { ValueTransformer.setValueTransformer(FlavourTransformer(), forName: name) }
}

struct PersistenceController {
    static let model: NSManagedObjectModel = {
        FlavourTransformer.register()
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Apps.xcdatamodeld")
        return NSManagedObjectModel(contentsOf: url)!
    }()

    let container: NSPersistentContainer

    init(inMemory: Bool = false) {
        container = AppContainer(name: "Apps", managedObjectModel: Self.model)
        if inMemory {
            container.persistentStoreDescriptions.first!.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores(completionHandler: { (storeDescription, error) in
            if let error = error as NSError? {
                fatalError("Unresolved error \(error), \(error.userInfo)")
            }
        })
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }
}

class AppContainer: NSPersistentContainer, @unchecked Sendable {
    private(set) var loads = 0

    override class func defaultDirectoryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("heartwood-apps-\(ProcessInfo.processInfo.processIdentifier)")
    }

    override func loadPersistentStores(completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void) {
        loads += 1
        super.loadPersistentStores(completionHandler: block)
    }

    override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.transactionAuthor = "background"
        return context
    }
}
