import Foundation
@_spi(GeneratedCode) import Heartwood

/// The data of the demonstration: contacts in groups.
struct AddressBook {
    let context: NSManagedObjectContext

    private static let firstNames = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Ken", "Radia", "Tony", "Lynn", "Niklaus"]
    private static let lastNames = [
        "Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov", "Knuth", "Allen", "Thompson", "Perlman", "Hoare", "Conway", "Wirth",
    ]
    private static let batch = 10_000

    /// Makes `people` contacts and a group for each thousand, and saves every few thousand.
    func fill(people: Int) throws {
        var groups: [ContactGroup] = []
        for number in 0..<max(1, people / 1000) {
            let group = ContactGroup(context: context)
            group.title = "Group \(number)"
            groups.append(group)
        }
        for number in 0..<people {
            let contact = Contact(context: context)
            contact.name = "\(Self.firstNames[number % 12]) \(Self.lastNames[number / 12 % 12])"
            contact.email = "contact\(number)@example.org"
            // Spread over eighty years, in no order.
            contact.birthday = Date(timeIntervalSinceReferenceDate: Double(number &* 7919 % 29_200) * 86_400 - 1_600_000_000)
            contact.group = groups[number % groups.count]
            if (number + 1) % Self.batch == 0 { try context.save() }
        }
        try context.save()
    }

    func change(_ number: Int, birthday: Date) throws {
        let request = NSFetchRequest<Contact>(entityName: "Contact")
        request.predicate = NSPredicate(format: "email == %@", "contact\(number)@example.org")
        try context.fetch(request).first?.birthday = birthday
        try context.save()
    }

    /// Fetches a page from the middle of the contacts in order of birthday.
    func page(of count: Int) throws -> [Contact] {
        let request = NSFetchRequest<Contact>(entityName: "Contact")
        request.predicate = NSPredicate(format: "birthday > %@", Date(timeIntervalSinceReferenceDate: -300_000_000) as any CVarArg)
        request.sortDescriptors = [NSSortDescriptor(key: "birthday", ascending: true)]
        request.fetchLimit = count
        return try context.fetch(request)
    }

    func firstGroupCount() throws -> Int {
        let request = NSFetchRequest<ContactGroup>(entityName: "ContactGroup")
        request.fetchLimit = 1
        return try context.fetch(request).first?.countOfContacts ?? 0
    }

    static func model() -> NSManagedObjectModel {
        let contact = NSEntityDescription(), group = NSEntityDescription()
        contact.name = "Contact"
        contact.managedObjectClassName = NSStringFromClass(Contact.self)
        group.name = "ContactGroup"
        group.managedObjectClassName = NSStringFromClass(ContactGroup.self)
        let birthday = attribute("birthday", .dateAttributeType)
        let toGroup = NSRelationshipDescription(), contacts = NSRelationshipDescription()
        toGroup.name = "group"
        toGroup.destinationEntity = group
        toGroup.maxCount = 1
        contacts.name = "contacts"
        contacts.destinationEntity = contact
        toGroup.inverseRelationship = contacts
        contacts.inverseRelationship = toGroup
        contact.properties = [attribute("name", .stringAttributeType), attribute("email", .stringAttributeType), birthday, toGroup]
        contact.uniquenessConstraints = [["email"]]
        contact.indexes = [NSFetchIndexDescription(
            name: "byBirthday", elements: [NSFetchIndexElementDescription(property: birthday, collationType: .binary)])]
        group.properties = [attribute("title", .stringAttributeType), contacts]
        group.uniquenessConstraints = [["title"]]
        let model = NSManagedObjectModel()
        model.entities = [contact, group]
        return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        return attribute
    }
}

/// Accessors by property index, in the order of `AddressBook.model()`.
final class Contact: NSManagedObject {
    var name: String? {
        get { managedString(at: 0) }
        set { setManagedString(newValue, at: 0) }
    }

    var email: String? {
        get { managedString(at: 1) }
        set { setManagedString(newValue, at: 1) }
    }

    var birthday: Date? {
        get { managedDate(at: 2) }
        set { setManagedDate(newValue, at: 2) }
    }

    var group: ContactGroup? {
        get { managedObject(at: 3) as? ContactGroup }
        set { setManagedObject(newValue, at: 3) }
    }
}

final class ContactGroup: NSManagedObject {
    var title: String? {
        get { managedString(at: 0) }
        set { setManagedString(newValue, at: 0) }
    }

    var countOfContacts: Int { countOfManagedObjects(at: 1) }
}
