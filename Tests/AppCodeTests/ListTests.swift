import CoreData
import Foundation
import Testing

// A view context is the main queue's.
@MainActor @Suite struct ListTests {
    let container = PersistenceController(inMemory: true).container
    var context: NSManagedObjectContext { container.viewContext }

    @Test func aListIsReorderedByItsGeneratedAccessors() throws {
        let list = TodoList(context: context)
        list.title = "Shopping"
        let items = ["Milk", "Eggs", "Bread", "Tea"].map { text in
            let item = TodoItem(context: context)
            item.text = text
            item.isDone = text == "Tea"
            return item
        }
        list.addToItems(NSOrderedSet(array: items))
        let moved = items[3]
        list.removeFromItems(moved)
        list.insertIntoItems(moved, at: 0)
        list.replaceItems(at: 1, with: TodoItem(context: context))
        try context.save()
        context.refreshAllObjects()
        let texts = (list.items?.array as? [TodoItem])?.map(\.title)
        #expect(texts == ["Tea", "", "Eggs", "Bread"] && items[0].list == nil && moved.isDone)
        moved.priority = 3
        #expect(moved.priority?.int16Value == 3)
        let request = TodoItem.fetchRequest()
        request.predicate = NSPredicate(format: "isDone == %@ AND priority == %d", NSNumber(value: true), 3)
        #expect(try context.fetch(request) == [moved])
        request.predicate = NSPredicate(format: "isDone == NO")
        #expect(try context.count(for: request) == 4)
        context.delete(list)
        try context.save()
        #expect(try context.count(for: NSFetchRequest<NSFetchRequestResult>(entityName: "TodoItem")) == 1)
    }

    @Test func aTreeGoesWithItsRoot() throws {
        let root = Folder(context: context)
        root.name = "root"
        var level = [root]
        for depth in 1...3 {
            level = level.flatMap { parent in
                (0..<2).map { number in
                    let folder = Folder(context: context)
                    folder.name = "\(parent.name ?? "").\(number)"
                    if depth % 2 == 0 { folder.parent = parent } else { parent.addToChildren(folder) }
                    return folder
                }
            }
        }
        try context.save()
        context.reset()
        let request = Folder.fetchRequest()
        request.predicate = NSPredicate(format: "parent == nil")
        request.relationshipKeyPathsForPrefetching = ["children", "children.children"]
        let top = try #require(try context.fetch(request).first)
        #expect(top.children?.count == 2 && top.value(forKeyPath: "children.@count") as? Int == 2)
        request.predicate = NSPredicate(format: "parent.parent.name == 'root'")
        #expect(try context.count(for: request) == 4)
        request.predicate = NSPredicate(format: "children.@count == 0")
        #expect(try context.count(for: request) == 8)
        let child = try #require(top.children?.anyObject() as? Folder)
        context.delete(child)
        try context.save()
        #expect(try context.count(for: Folder.fetchRequest()) == 8)
        context.delete(top)
        try context.save()
        #expect(try context.count(for: Folder.fetchRequest()) == 0)
    }

    @Test func aLedgerIsSummedByCategory() throws {
        let account = Account(context: context)
        let calendar = Calendar(identifier: .gregorian)
        let start = calendar.date(from: DateComponents(timeZone: TimeZone(identifier: "UTC"), year: 2026, month: 1, day: 31))!
        for (number, (category, amount)) in [("food", "10.10"), ("food", "20.20"), ("rent", "500.05"), ("fun", "-0.01")].enumerated() {
            let entry = Entry(context: context)
            entry.category = category
            entry.amount = NSDecimalNumber(string: amount)
            entry.date = calendar.date(byAdding: .day, value: number, to: start)
            account.addToEntries(entry)
        }
        try context.save()
        #expect(account.value(forKeyPath: "entries.@sum.amount") as? NSDecimalNumber == NSDecimalNumber(string: "530.34"))
        let sum = NSExpressionDescription()
        sum.name = "total"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "amount")])
        sum.expressionResultType = .decimalAttributeType
        let count = NSExpressionDescription()
        count.name = "entryCount"
        count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "amount")])
        count.expressionResultType = .integer32AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Entry")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["category", sum, count]
        request.propertiesToGroupBy = ["category"]
        request.sortDescriptors = [NSSortDescriptor(key: "category", ascending: true)]
        var groups = try context.fetch(request)
        #expect(groups.compactMap { $0["category"] as? String } == ["food", "fun", "rent"])
        #expect(groups.first?["total"] as? NSDecimalNumber == NSDecimalNumber(string: "30.3") && groups.first?["entryCount"] as? Int == 2)
        request.havingPredicate = NSPredicate(format: "%@ > 25", NSExpression(forVariable: "total"))
        groups = try context.fetch(request)
        #expect(groups.count == 2)
        let average = NSFetchRequest<NSFetchRequestResult>(entityName: "Entry")
        average.resultType = .dictionaryResultType
        let mean = NSExpressionDescription()
        mean.name = "mean"
        mean.expression = NSExpression(format: "average:(amount)")
        mean.expressionResultType = .doubleAttributeType
        average.propertiesToFetch = [mean]
        average.predicate = NSPredicate(format: "category == %@", "food")
        let results = try context.fetch(average) as? [[String: Any]]
        #expect(abs((results?.first?["mean"] as? Double ?? 0) - 15.15) < 1e-9)
        // One calendar month, as apps ask for it.
        let february = calendar.date(byAdding: .day, value: 1, to: start)!
        let events = Entry.fetchRequest()
        events.predicate = NSPredicate(format: "%K >= %@ AND %K < %@", "date", february as NSDate, "date", Date.distantFuture as NSDate)
        events.sortDescriptors = [NSSortDescriptor(keyPath: \Entry.date, ascending: false)]
        #expect(try context.fetch(events).map(\.category) == ["fun", "rent", "food"])
        events.predicate = NSPredicate(format: "date BETWEEN %@", [start, february])
        #expect(try context.count(for: events) == 2)
    }

    @Test func aTableIsDrivenOnlyByKeys() throws {
        let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
        account.setValuesForKeys(["name": "Cash"])
        let entry = NSManagedObject(entity: NSEntityDescription.entity(forEntityName: "Entry", in: context)!, insertInto: context)
        entry.setValue(account, forKey: "account")
        entry.setValue(Decimal(string: "1.5"), forKey: "amount")
        #expect(entry.value(forKeyPath: "account.name") as? String == "Cash")
        #expect((account.value(forKey: "entries") as? Set<NSManagedObject>)?.count == 1)
        #expect((entry.value(forKey: "amount") as? NSDecimalNumber)?.doubleValue == 1.5 && entry.value(forKey: "amount") as? Decimal == 1.5)
        let row = entry.dictionaryWithValues(forKeys: entry.entity.attributesByName.keys.sorted())
        #expect(row["date"] is NSNull && row.count == 3)
        #expect(context.insertedObjects.count == 2 && account is Account)
        try context.obtainPermanentIDs(for: [entry])
        let url = entry.objectID.uriRepresentation()
        try context.save()
        let id = try #require(container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url))
        #expect(context.object(with: id) === entry)
    }
}
