// A school, built by hand in five steps: model, coordinator, store, context, objects.
import Foundation
import Heartwood

final class Student: NSManagedObject {
    var name: String {
        get { value(forKey: "name") as? String ?? "" }
        set { setValue(newValue, forKey: "name") }
    }

    var grade: Int {
        get { value(forKey: "grade") as? Int ?? 0 }
        set { setValue(newValue, forKey: "grade") }
    }
}

final class Course: NSManagedObject {
    var title: String {
        get { value(forKey: "title") as? String ?? "" }
        set { setValue(newValue, forKey: "title") }
    }

    var students: Set<Student> {
        get { value(forKey: "students") as? Set<Student> ?? [] }
        set { setValue(newValue, forKey: "students") }
    }
}

// 1. The model: entities, their attributes, and relationships with both of their sides.
func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = false
    return attribute
}
let student = NSEntityDescription(), course = NSEntityDescription()
student.name = "Student"
student.managedObjectClassName = NSStringFromClass(Student.self)
course.name = "Course"
course.managedObjectClassName = NSStringFromClass(Course.self)
let students = NSRelationshipDescription(), courses = NSRelationshipDescription()
students.name = "students"
students.destinationEntity = student
students.inverseRelationship = courses
courses.name = "courses"
courses.destinationEntity = course
courses.inverseRelationship = students
student.properties = [attribute("name", .stringAttributeType), attribute("grade", .integer16AttributeType), courses]
course.properties = [attribute("title", .stringAttributeType), students]
let model = NSManagedObjectModel()
model.entities = [student, course]

// 2. The coordinator, which joins the model to stores.
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)

// 3. A store.
let place = FileManager.default.temporaryDirectory.appendingPathComponent("school-\(UUID().uuidString).heartwood")
try coordinator.addPersistentStore(type: .recordLog, at: place)

// 4. A context.
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

// 5. Objects.
let algebra = Course(context: context), history = Course(context: context)
(algebra.title, history.title) = ("Algebra", "History")
for (name, grade, taken) in [("Ada", 12, [algebra, history]), ("Emmy", 11, [algebra]), ("Herodotus", 12, [history])] {
    let new = Student(context: context)
    new.name = name
    new.grade = grade
    for course in taken { course.students.insert(new) }
}
try context.save()

let inAlgebra = algebra.students.map(\.name).sorted()
print("\(algebra.title): \(inAlgebra.joined(separator: ", "))")
precondition(inAlgebra == ["Ada", "Emmy"])

let request = NSFetchRequest<Student>(entityName: "Student")
request.predicate = NSPredicate(format: "grade == 12 AND ANY courses.title == 'History'")
request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
let seniors = try context.fetch(request).map(\.name)
print("Seniors in history: \(seniors.joined(separator: ", "))")
precondition(seniors == ["Ada", "Herodotus"])

// What a second program would find.
try coordinator.remove(coordinator.persistentStores[0])
let again = NSPersistentStoreCoordinator(managedObjectModel: model)
try again.addPersistentStore(type: .recordLog, at: place)
let reader = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
reader.persistentStoreCoordinator = again
let count = try reader.count(for: NSFetchRequest<Student>(entityName: "Student"))
print("\(count) students on disk")
precondition(count == 3)
try again.remove(again.persistentStores[0])
try FileManager.default.removeItem(at: place)
