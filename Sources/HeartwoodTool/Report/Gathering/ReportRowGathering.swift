import Foundation
import Heartwood

/// Reads a sample of each entity's rows, and then the rows to which they refer, those that changed last and those that queries find.
struct ReportRowGathering {
    private let open: OpenStore
    private let limit: Int
    private let entities: [NSEntityDescription]
    private let titles: ReportTitles
    private var cells: ReportCellMaker
    /// By entity: the objects that are in the sample, and those that are referred to and are not.
    private var known: Set<NSManagedObjectID> = []
    private var wanted: [String: [NSManagedObjectID]] = [:]

    /// - Parameters:
    ///   - limit: the most rows of an entity's sample, and the most of it to which others refer.
    ///   - entities: those with rows of their own.
    init(_ open: OpenStore, _ entities: [NSEntityDescription], limit: Int) {
        (self.open, self.limit, self.entities) = (open, limit, entities)
        titles = ReportTitles(entities)
        cells = ReportCellMaker(titles)
    }

    /// - Parameter further: objects to read beside the sample, as `ReportRows.Row.id`, which may be gone.
    mutating func rows(_ counts: [String: Int], further: [String]) -> ReportRows {
        for object in further.compactMap({ titles.object($0, open.coordinator) }) {
            wanted[object.entity.title, default: []].append(object)
        }
        var tables = entities.map { sample($0, counts) }
        for index in entities.indices { addEnds(of: entities[index], to: &tables[index]) }
        return ReportRows(limit: limit, prefix: ReportTitles.prefix(open.coordinator), tables: tables)
    }

    // MARK: Samples

    private mutating func sample(_ entity: NSEntityDescription, _ counts: [String: Int]) -> ReportRows.Table {
        let properties = Self.properties(entity)
        var table = ReportRows.Table(
            entity: entity.title, objects: counts[entity.title], columns: properties.map(Self.column), label: Self.label(properties), rows: [])
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.title)
        request.includesSubentities = false
        request.fetchLimit = limit
        do {
            guard limit > 0 else { return table }
            for object in try open.context.fetch(request) {
                table.rows.append(row(object, properties, isEnd: nil))
                if let failure = open.context.readingFailure { throw failure }
                known.insert(object.objectID)
            }
        } catch {
            table.failure = ToolError.message(of: error)
        }
        // Objects that were read hold memory.
        open.context.reset()
        return table
    }

    private mutating func addEnds(of entity: NSEntityDescription, to table: inout ReportRows.Table) {
        let properties = Self.properties(entity)
        var left = limit
        for id in wanted[entity.title] ?? [] where !known.contains(id) && left > 0 {
            guard let object = try? open.context.existingObject(with: id) else { continue }
            table.rows.append(row(object, properties, isEnd: true))
            known.insert(id)
            left -= 1
        }
        open.context.reset()
    }

    private mutating func row(_ object: NSManagedObject, _ properties: [NSPropertyDescription], isEnd: Bool?) -> ReportRows.Row {
        var made: [ReportCell] = []
        for property in properties {
            if let relationship = property as? NSRelationshipDescription {
                let (cell, ends) = cells.cell(object, relationship)
                made.append(cell)
                // The ends of ends are not read.
                guard isEnd == nil else { continue }
                for end in ends { wanted[end.entity.title, default: []].append(end) }
            } else if let attribute = property as? NSAttributeDescription {
                made.append(cells.cell(object, attribute))
            }
        }
        return ReportRows.Row(id: titles.id(object.objectID), cells: made, isEnd: isEnd)
    }

    // MARK: Columns

    private static func properties(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        entity.orderedProperties.filter { !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription) }
    }

    private static func column(_ property: NSPropertyDescription) -> ReportRows.Column {
        if let relationship = property as? NSRelationshipDescription {
            return ReportRows.Column(
                name: property.name, end: relationship.isToMany ? .many : .one, destination: relationship.destinationEntity?.title)
        }
        return ReportRows.Column(name: property.name, type: (property as? NSAttributeDescription)?.attributeType.modelFileName)
    }

    /// The column of texts that is most likely a name.
    private static func label(_ properties: [NSPropertyDescription]) -> Int? {
        let texts = properties.indices.filter { (properties[$0] as? NSAttributeDescription)?.attributeType == .stringAttributeType }
        let names = ["name", "title", "label", "displayname", "fullname"]
        for name in names {
            if let found = texts.first(where: { properties[$0].name.lowercased() == name }) { return found }
        }
        return texts.first { index in names.contains { properties[index].name.lowercased().hasSuffix($0) } } ?? texts.first
    }
}
