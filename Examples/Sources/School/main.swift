// A school, its stack put together by hand in five steps: model, coordinator, store, context, objects.
import CoreData

// 1. The model, which the build plugin makes a resource of this target.
guard let modelURL = Bundle.module.url(forResource: "School", withExtension: "momd"),
    let model = NSManagedObjectModel(contentsOf: modelURL)
else { fatalError("The model is missing") }

// 2. The coordinator, which joins the model to stores.
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)

// 3. A store.
let place = FileManager.default.temporaryDirectory.appendingPathComponent("School-\(UUID().uuidString).heartwood")
defer { try? FileManager.default.removeItem(at: place) }
try coordinator.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: place, options: nil)

// 4. A context.
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

// 5. Objects.
let algebra = Course(context: context), history = Course(context: context)
algebra.title = "Algebra"
history.title = "History"
for (name, grade, taken) in [("Ada", 12, [algebra, history]), ("Emmy", 11, [algebra]), ("Herodotus", 12, [history])] {
    let student = Student(context: context)
    student.name = name
    student.grade = Int16(grade)
    for course in taken { course.addToStudents(student) }
}
try context.save()

let inAlgebra = (algebra.students as? Set<Student> ?? []).compactMap(\.name).sorted()
print("Algebra: \(inAlgebra.joined(separator: ", "))")
precondition(inAlgebra == ["Ada", "Emmy"])

let request: NSFetchRequest<Student> = Student.fetchRequest()
request.predicate = NSPredicate(format: "grade == %d AND ANY courses.title == %@", 12, "History")
request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
let seniors = try context.fetch(request).compactMap(\.name)
print("Seniors in history: \(seniors.joined(separator: ", "))")
precondition(seniors == ["Ada", "Herodotus"])

// What a second program would find.
let another = NSPersistentStoreCoordinator(managedObjectModel: model)
try another.addPersistentStore(ofType: NSRecordLogStoreType, configurationName: nil, at: place, options: nil)
let reader = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
reader.persistentStoreCoordinator = another
let count = try reader.count(for: Student.fetchRequest())
print("\(count) students on disk")
precondition(count == 3)
