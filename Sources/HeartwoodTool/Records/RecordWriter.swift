import Foundation
import Heartwood

/// Writes objects as lines of JSON or CSV, in large pieces: from their rows where these have all that a line needs, else from objects.
final class RecordWriter {
    /// A property in a line.
    private enum Field {
        /// The column of its value.
        case attribute(NSAttributeDescription, Int)
        /// - Parameters:
        ///   - key: the attribute by which a destination is written; nil for its URI.
        ///   - reference: the column of the row that is referred to.
        ///   - destination: the column of the destination's key, or of the destination itself.
        case toOne(NSRelationshipDescription, key: NSAttributeDescription?, reference: Int, destination: Int)
        /// - Parameter members: the column of the members' keys.
        case toMany(NSRelationshipDescription, key: NSAttributeDescription?, members: Int)
    }

    private let fields: [Field]
    private let columns: [RowColumn]
    /// By field: the column of the cell that is its value, unless that is null; -1 where there is none.
    private let cellColumns: [Int]
    /// Whether rows have all that a line needs.
    private let readsRows: Bool
    private let labels: Bool
    private let isCSV: Bool
    private let names: [String]
    private let form: JSONObjectForm
    private let output: OutputBuffer
    private let dangling: DanglingReferences?

    /// The column of the line's own object.
    private static let ownColumn = 0

    /// - Parameters:
    ///   - labels: whether each line has a label for its object, and relationships in JSON refer to labels. Otherwise they have the keys of their
    ///     destinations, if these have a key.
    ///   - selected: the properties of a line, in the order of a line of CSV; nil for those that an import needs.
    ///   - dangling: gets the references that are left out, since they lead nowhere.
    init(
        entity: NSEntityDescription, labels: Bool = false, isCSV: Bool = false, selected: [NSPropertyDescription]? = nil,
        output: OutputBuffer = OutputBuffer(), dangling: DanglingReferences? = nil
    ) {
        let properties = selected ?? Self.needed(entity)
        var columns: [RowColumn] = [.reference("objectID")], fields: [Field] = [], readsRows = true
        func add(_ column: RowColumn) -> Int {
            columns.append(column)
            return columns.count - 1
        }
        for property in properties {
            guard let relationship = property as? NSRelationshipDescription else {
                guard let attribute = property as? NSAttributeDescription else { continue }
                // Its line has bytes of the store, which no column gives.
                if attribute.attributeType == .transformableAttributeType { readsRows = false }
                fields.append(.attribute(attribute, add(.value(attribute.name))))
                continue
            }
            let key = labels && !isCSV ? nil : relationship.destinationEntity?.uniqueAttribute, name = relationship.name
            if relationship.isToMany {
                // A row has the members in the order of their keys.
                if relationship.isOrdered { readsRows = false }
                fields.append(.toMany(relationship, key: key, members: add(.members(name, key?.name))))
            } else {
                let reference = add(.reference(name)), destination = key.map { RowColumn.value("\(name).\($0.name)") }
                fields.append(
                    .toOne(relationship, key: key, reference: reference, destination: add(destination ?? .reference("\(name).objectID"))))
            }
        }
        cellColumns = fields.map { field in
            switch field {
            case .attribute(_, let column): column
            case .toOne(_, let key, _, let destination): key == nil ? -1 : destination
            case .toMany: -1
            }
        }
        (self.fields, self.columns, self.readsRows, self.labels, self.isCSV) = (fields, columns, readsRows, labels, isCSV)
        names = (labels ? [Record.labelName, Record.entityName] : []) + properties.map(\.name)
        form = JSONObjectForm(names)
        self.output = output
        self.dangling = dangling
    }

    /// Of two inverses on one entity only the first is needed, unless the second is ordered; otherwise the second would repeat it.
    private static func needed(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
        let all = entity.orderedProperties.filter { !$0.isTransient }
        return all.enumerated().filter { index, property in
            guard let relationship = property as? NSRelationshipDescription, let inverse = relationship.inverseRelationship else { return true }
            return relationship.isOrdered || !all.prefix(index).contains { $0 === inverse }
        }.map(\.element)
    }

    /// The properties with these names.
    /// - Throws: `ToolError.usage` for a name that lines cannot have.
    static func properties(_ names: [String], of entity: NSEntityDescription) throws -> [NSPropertyDescription] {
        let all = entity.orderedProperties.filter { !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription) }
        return try names.map { name in
            guard let found = all.first(where: { $0.name == name }) else {
                throw ToolError.usage(
                    "\(entity.title) has no property \"\(DisplayWidth.printable(name))\" to select; it has "
                        + all.map(\.name).sorted().joined(separator: ", "))
            }
            return found
        }
    }

    /// Writes the objects that a request finds.
    /// - Throws: `ToolError.usage` for a request without meaning.
    func write(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws {
        if isCSV { try output.append(DelimitedText.line(names)) }
        let objects: [NSManagedObject]
        do {
            let isWritten = try readsRows && context.forEachRow(request, columns) { cells, names in
                try line(ofRow: cells, names)
                return true
            }
            guard !isWritten else { return }
            objects = try context.fetch(request)
        } catch {
            throw ToolError.ofRequest(error)
        }
        for object in objects {
            try line(object)
            // An object seems to have no members when their index is damaged; its line would be wrong.
            if let failure = context.readingFailure { throw failure }
        }
    }

    func flush() throws { try output.flush() }

    // MARK: Lines

    /// - Parameter value: the value of a field; nil for none.
    private func line(label: () -> String, entity: () -> String, _ value: (Field) throws -> JSONValue?) throws {
        let first = labels ? 2 : 0
        if isCSV {
            let own = labels ? [label(), entity()] : []
            output.add(DelimitedText.line(own + (try fields.map { try value($0).flatMap(Self.text) })))
        } else {
            try form.add(to: output) { index in
                if index < first {
                    output.add(json: index == 0 ? label() : entity())
                    return true
                }
                guard let value = try value(fields[index - first]) else { return false }
                output.add(value)
                return true
            }
            output.add("\n" as Unicode.Scalar)
        }
        try output.writeIfFull()
    }

    private static func text(_ value: JSONValue) -> String? {
        if case .list(let members) = value { return MemberList.text(members.map(AttributeText.text)) }
        return AttributeText.text(value)
    }

    /// A destination without a key, by its URI, which a reader understands.
    /// - Parameter key: the attribute that others are written by.
    private func destination(_ uri: String, _ key: NSAttributeDescription?) -> JSONValue {
        labels && !isCSV || key != nil ? .object([Record.labelName: .text(uri)]) : .text(uri)
    }

    /// Members in the order of their text; nil for none.
    private func members(_ values: [JSONValue], isOrdered: Bool) -> JSONValue? {
        guard !values.isEmpty else { return nil }
        guard !isOrdered else { return .list(values) }
        let sorted = values.map { (value: $0, text: AttributeText.text($0)) }.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        return .list(sorted.map(\.value))
    }

    // MARK: Rows

    private func line(ofRow cells: UnsafeBufferPointer<RowCell>, _ names: RowNames) throws {
        if !isCSV, !labels {
            form.add(to: output) { index in
                let column = cellColumns[index]
                guard column >= 0, !cells[column].isNull else { return add(value(fields[index], cells, names)) }
                output.add(cells[column])
                return true
            }
            output.add("\n" as Unicode.Scalar)
            return try output.writeIfFull()
        }
        guard case .reference(let own) = cells[Self.ownColumn] else { return }
        try line(label: { names.uri(of: own) }, entity: { names.entity(of: own) }) { value($0, cells, names) }
    }

    /// - Returns: false if there is none.
    private func add(_ value: JSONValue?) -> Bool {
        guard let value else { return false }
        output.add(value)
        return true
    }

    private func value(_ field: Field, _ cells: UnsafeBufferPointer<RowCell>, _ names: RowNames) -> JSONValue? {
        switch field {
        case .attribute(_, let column): return cells[column].json
        case .toOne(let relationship, let key, let reference, let column):
            guard case .reference(let row) = cells[reference] else { return nil }
            if case .missing = cells[column] {
                guard case .reference(let own) = cells[Self.ownColumn] else { return nil }
                dangling?.note(names.uri(of: row), from: names.uri(of: own), relationship)
                return dangling == nil ? destination(names.uri(of: row), key) : nil
            }
            return cells[column].json ?? destination(names.uri(of: row), key)
        case .toMany(let relationship, let key, let column):
            guard case .object(let object) = cells[column], let list = object.value as? [Any] else { return nil }
            return members(list.map { member in
                (member as? MemberReference).map { destination(names.uri(of: $0.row), key) } ?? AttributeText.json(member)
            }, isOrdered: relationship.isOrdered)
        }
    }

    // MARK: Objects

    func line(_ object: NSManagedObject) throws {
        try line(label: { object.objectID.text }, entity: { object.entity.name ?? "" }) { value($0, object) }
    }

    /// The values of a line one by one.
    /// - Parameter membersMax: the most members of a to-many relationship; `more` is the number of the others.
    func properties(of object: NSManagedObject, membersMax: Int) -> [(name: String, value: JSONValue?, more: Int)] {
        zip(names.suffix(fields.count), fields).map { name, field in
            guard case .toMany(let relationship, _, _) = field else { return (name, value(field, object), 0) }
            return (name, value(field, object, membersMax), max(0, object.destinations(of: relationship).count - membersMax))
        }
    }

    private func value(_ field: Field, _ object: NSManagedObject, _ membersMax: Int = .max) -> JSONValue? {
        func value(_ destination: NSManagedObject, _ key: NSAttributeDescription?) -> JSONValue {
            key.flatMap { destination.attributeValue($0) }.map(AttributeText.json) ?? self.destination(destination.objectID.text, key)
        }
        switch field {
        case .attribute(let attribute, _):
            guard attribute.attributeType == .transformableAttributeType else { return object.attributeValue(attribute).map(AttributeText.json) }
            return object.storedData(of: attribute).map {
                AttributeText.json(object.attributeValue(attribute), transformable: attribute, bytes: $0)
            }
        case .toOne(let relationship, let key, _, _):
            let known = object.destinations(of: relationship).filter { dangling?.leads(to: $0, from: object, relationship) ?? true }
            return known.first.map { value($0, key) }
        case .toMany(let relationship, let key, _):
            return members(object.destinations(of: relationship).prefix(membersMax).map { value($0, key) }, isOrdered: relationship.isOrdered)
        }
    }
}
