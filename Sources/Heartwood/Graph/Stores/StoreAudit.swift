import Foundation
import RecordLog

/// Checks the rows of a record log against the model that the store carries. `heartwood verify` adds its findings to the engine's.
///
/// It reads one commit, row by row, and keeps none of them. It cannot know which value the program meant; it checks only what other parts of the
/// store imply.
package struct StoreAudit {
    private let view: RecordLogView
    private let report: (StoreVerification.Problem) -> Void
    /// By entity name.
    private let tables: [String: TableID]
    private var snapshot: Snapshot { view.snapshot }

    /// - Parameter report: called with each finding.
    /// - Throws: if the store cannot be opened for reasons other than damage; damage is a finding.
    /// - Complexity: O(rows, link rows, entries of unique indexes and transactions of the history); memory that does not depend on them.
    package static func run(path: String, usesMemoryMapping: Bool = true, _ report: @escaping (StoreVerification.Problem) -> Void) throws {
        do {
            guard let (coordinator, store) = try open(path, usesMemoryMapping, report) else { return }
            defer { try? coordinator.remove(store) }
            guard let view = try store.rows?.newestLogView() else { return }
            try StoreAudit(view, report).run()
        } catch {
            guard let engine = error as? StoreError ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? StoreError else {
                return report(.init(offset: nil, message: (error as NSError).localizedDescription, remedy: .correct))
            }
            guard engine.code == .corrupt else { throw engine }
            report(.init(offset: engine.offset, message: engine.message))
        }
    }

    /// Audits one commit and returns the messages of its findings.
    static func findings(in view: RecordLogView) throws -> [String] {
        var messages: [String] = []
        try run(view) { messages.append($0.message) }
        return messages
    }

    /// Audits one commit.
    static func run(_ view: RecordLogView, _ report: @escaping (StoreVerification.Problem) -> Void) throws {
        try StoreAudit(view, report).run()
    }

    /// - Returns: nil if the store carries no model: then only the engine can check it.
    private static func open(
        _ path: String, _ usesMemoryMapping: Bool, _ report: (StoreVerification.Problem) -> Void
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore)? {
        let url = URL(fileURLWithPath: path)
        var options = StoreOptions()
        options.isReadOnly = true
        options.usesMemoryMapping = usesMemoryMapping
        let log = try LogStore.open(path: path, options: options)
        defer { try? log.close() }
        let snapshot = log.snapshot()
        guard let model = try StoredModel.model(in: snapshot) else { return nil }
        let configuration = try RecordLogMetadata.configuration(in: snapshot)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSRecordLogStoreType, configurationName: configuration, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: true, NSRecordLogAcceptsDamageOption: true, NSRecordLogMemoryMappingOption: usesMemoryMapping,
            ])
        return (coordinator, store)
    }

    private init(_ view: RecordLogView, _ report: @escaping (StoreVerification.Problem) -> Void) {
        self.view = view
        self.report = report
        tables = Dictionary(view.schema.tables.compactMap { $0 }.map { ($0.runtime.entity.name ?? "", $0.id) }, uniquingKeysWith: { $1 })
    }

    private func run() throws {
        let isDue = try snapshot.unsafeSystemValue(RecordLogSystemRow.pendingDerivations) != nil
        for case let table? in view.schema.tables {
            try auditRows(of: table, derives: !isDue)
        }
        try UniquenessAudit(snapshot, view.schema).run { repetition in
            let holder = name(repetition.holder)
            found(
                view.schema.table(repetition.row.table), repetition.row, nil,
                "it has the same \(repetition.attributes), which is to be unique, as \(holder)")
        }
        for link in LinkEnds.all(of: view.schema, family) { try auditLinks(link) }
        try HistoryFalls.forEachUnlisted(in: snapshot) { number in
            let message = "transaction \(number) of the history is not later than the one before, and is not listed as such, so a request by "
                + "date may miss some: delete the history up to there (`heartwood history STORE --delete-before \(number)`)"
            report(.init(offset: nil, message: message, remedy: .correct))
        }
    }

    private func found(_ table: EntityTable?, _ reference: RowReference, _ property: Int?, _ message: String) {
        let name = table?.runtime.entity.name ?? "table \(reference.table.rawValue)"
        let location = property.flatMap { table?.runtime.properties[$0].name }.map { ", property \($0)" } ?? ""
        report(.init(offset: nil, message: "entity \(name), object p\(reference.row)\(location): \(message)", remedy: .correct))
    }

    private func name(_ reference: RowReference) -> String {
        "\(view.schema.table(reference.table)?.runtime.entity.name ?? "table \(reference.table.rawValue)") p\(reference.row)"
    }

    /// The tables of an entity and its subentities.
    private func family(_ entity: NSEntityDescription?) -> Set<TableID> {
        Set((entity?.concreteFamily ?? []).compactMap { tables[$0.name ?? ""] })
    }

    // MARK: Rows

    /// A to-one relationship that is checked in each row.
    private struct Reference {
        let property: Int
        let destinations: Set<TableID>
        /// Whether a reference may remain after its destination was deleted.
        let mayDangle: Bool
        let inverse: Int?
        let inverseIsToMany: Bool
    }

    private func references(of table: EntityTable) -> [Reference] {
        table.runtime.properties.indices.compactMap { index in
            let property = table.runtime.properties[index]
            guard property.kind == .toOne, !property.isTransient,
                let relationship = table.runtime.entity.propertiesByIndex[index] as? NSRelationshipDescription
            else { return nil }
            let inverse = relationship.inverseRelationship
            return Reference(
                property: index, destinations: family(relationship.destinationEntity),
                mayDangle: inverse.map { $0.deleteRule == .noActionDeleteRule } ?? true, inverse: property.inverse,
                inverseIsToMany: property.inverseIsToMany)
        }
    }

    private func auditRows(of table: EntityTable, derives: Bool) throws {
        let references = references(of: table), properties = table.runtime.properties
        let addresses = properties.indices.filter { properties[$0].kind == .uri && !properties[$0].isTransient }
        let decimals = properties.indices.filter { properties[$0].kind == .decimal && !properties[$0].isTransient }
        let derived = derives ? table.derivations.map { DerivedCheck(table, $0, snapshot, view.schema) } : nil
        try snapshot.scan(table.id) { row in
            for reference in references { try audit(reference, of: row, table) }
            for property in addresses {
                guard let access = table.runtime.access(property, in: row) else { continue }
                if URL(string: String(stored: row.bytes(access))) == nil { found(table, row.reference, property, "it is no URI") }
            }
            for property in decimals {
                guard let access = table.runtime.access(property, in: row) else { continue }
                if Int8(exactly: row.decimal(access).exponent) == nil {
                    found(table, row.reference, property, "it is beyond the range of a decimal number")
                }
            }
            for property in try derived?.wrong(in: row) ?? [] {
                found(table, row.reference, property, "it is derived, and differs from its derivation's result")
            }
            return true
        }
    }

    private func audit(_ reference: Reference, of row: UnsafeRowView, _ table: EntityTable) throws {
        guard let destination = table.reference(reference.property, in: row) else { return }
        func found(_ message: String) { self.found(table, row.reference, reference.property, message) }
        guard reference.destinations.contains(destination.table) else {
            return found("it refers to \(name(destination)), which the relationship does not lead to")
        }
        guard let other = view.schema.table(destination.table), let opposite = try snapshot.unsafeRow(destination) else {
            return reference.mayDangle ? () : found("it refers to \(name(destination)), which does not exist")
        }
        guard let inverse = reference.inverse else { return }
        if !reference.inverseIsToMany {
            guard other.reference(inverse, in: opposite) != row.reference else { return }
            return found("it refers to \(name(destination)), whose \(other.runtime.properties[inverse].name) does not refer back")
        }
        guard case .link(let link, isForward: true)? = other.members[inverse] else { return }
        if try link.row(from: destination, to: row.reference, snapshot) == nil {
            found("it refers to \(name(destination)), whose \(other.runtime.properties[inverse].name) does not have it")
        }
    }

    // MARK: Links

    private func auditLinks(_ link: LinkEnds) throws {
        let table = link.table, access = table.layout.access
        func found(_ row: RowReference, _ message: String) {
            report(.init(offset: nil, message: "relationship \(link.name), link row \(row.row): \(message)", remedy: .correct))
        }
        try snapshot.scan(table.id) { row in
            let source = row.reference(access[JoinTable.sourcePosition]), destination = row.reference(access[JoinTable.destinationPosition])
            for (end, tables) in [(source, link.sources), (destination, link.destinations)] {
                if !tables.contains(end.table) {
                    found(row.reference, "it names \(name(end)), which the relationship does not lead to")
                } else if try !snapshot.contains(end) {
                    found(row.reference, "it names \(name(end)), which does not exist")
                }
            }
            if let inverse = link.inverse, let other = view.schema.table(destination.table), let member = try snapshot.unsafeRow(destination),
                other.reference(inverse, in: member) != source
            {
                found(row.reference, "\(name(destination)) is a member of \(name(source)), and its inverse does not say so")
            }
            if link.isItsOwnInverse, try table.row(from: destination, to: source, snapshot) == nil {
                found(row.reference, "\(name(source)) has \(name(destination)), which does not refer back")
            }
            return true
        }
        // The index has destination before source.
        var cursor = try snapshot.cursor(table.backward), last: [UInt8] = []
        while let row = try cursor.next() {
            let key = cursor.unsafeKey, owner = KeyBuilder.wordSize
            let isSame = last.withUnsafeBytes { KeyBytes.compare($0, key) == 0 }
            let hasTwo = table.isExclusive && last.count >= owner && key.count >= owner && key.prefix(owner).elementsEqual(last.prefix(owner))
            if isSame || hasTwo {
                found(RowReference(table: table.id, row: row), isSame ? "the same pair has another row" : "its destination has another source")
            }
            last.removeAll(keepingCapacity: true)
            last.append(contentsOf: key)
        }
    }
}

/// The tables that the two ends of a join table's rows may refer to.
private struct LinkEnds {
    let table: JoinTable
    let name: String
    var sources: Set<TableID>
    var destinations: Set<TableID>
    /// The inverse in the destination's properties, if the relationship is ordered and its inverse is to-one.
    let inverse: Int?
    let isItsOwnInverse: Bool

    static func all(of schema: RecordLogSchema, _ family: (NSEntityDescription?) -> Set<TableID>) -> [LinkEnds] {
        var found: [TableID: LinkEnds] = [:]
        for case let table? in schema.tables {
            for (index, members) in table.members.enumerated() {
                guard case .link(let link, let isForward)? = members,
                    let relationship = table.runtime.entity.propertiesByIndex[index] as? NSRelationshipDescription
                else { continue }
                let property = table.runtime.properties[index], others = family(relationship.destinationEntity)
                var ends = found[link.id] ?? LinkEnds(
                    table: link, name: "\(table.runtime.entity.name ?? "?").\(property.name)", sources: [], destinations: [],
                    inverse: isForward && !property.inverseIsToMany ? property.inverse : nil, isItsOwnInverse: property.isItsOwnInverse)
                if isForward {
                    ends.sources.insert(table.id)
                    ends.destinations.formUnion(others)
                } else {
                    ends.destinations.insert(table.id)
                    ends.sources.formUnion(others)
                }
                found[link.id] = ends
            }
        }
        return found.values.sorted { $0.table.id.rawValue < $1.table.id.rawValue }
    }
}

/// Compares the derived attributes of a table's rows with newly derived values.
private final class DerivedCheck {
    private let table: EntityTable
    private let derivations: [Derivation]
    private let snapshot: Snapshot
    private let scope: DerivationScope
    private let builder = RowBuilder()

    init(_ table: EntityTable, _ derivations: [Derivation], _ snapshot: Snapshot, _ schema: RecordLogSchema) {
        self.table = table
        self.derivations = derivations
        self.snapshot = snapshot
        scope = DerivationScope(snapshot: snapshot, schema: schema)
    }

    /// The derived attributes of a row with wrong values. Times are left out: the store does not record when a row was last written.
    func wrong(in row: UnsafeRowView) throws -> [Int] {
        var values = [ManagedValue](repeating: .unset, count: table.runtime.properties.count)
        for derivation in derivations {
            do {
                switch derivation.form {
                case .now: continue
                case .count(let relationship):
                    let count = try table.members[relationship.index].map { try snapshot.memberCount(of: row.reference, in: $0) } ?? 0
                    values[derivation.property] = try derivation.stored(.integer(Int64(count)))
                case .sum(let relationship, let source):
                    var sum = DerivationScope.Sum()
                    if let members = table.members[relationship.index] {
                        try snapshot.forEachMember(of: row.reference, in: members) { member in
                            try sum.add(member, source, in: scope)
                            return true
                        }
                    }
                    values[derivation.property] = try derivation.stored(sum.total)
                default: values[derivation.property] = try scope.value(of: derivation, values, row, table)
                }
            } catch where CoreDataError.isCode(NSValidationNumberTooLargeError, error) {
                values[derivation.property] = .null
            }
        }
        try builder.begin(table, revising: row)
        for derivation in derivations {
            guard let position = table.positions[derivation.property] else { continue }
            try values[derivation.property].encode(into: builder, at: position)
        }
        let body = builder.unsafeBody()
        guard let start = body.baseAddress else { return [] }
        let new = UnsafeRowView(body: start, byteCount: body.count, reference: row.reference, version: 0)
        return derivations.map(\.property).filter { !table.isEqual($0, row, new) && !isClose($0, row, new) }
    }

    /// Whether two sums differ only as much as another order of their terms can make them.
    private func isClose(_ property: Int, _ a: UnsafeRowView, _ b: UnsafeRowView) -> Bool {
        let kind = table.runtime.properties[property].kind
        guard kind == .double || kind == .float, let x = table.runtime.access(property, in: a), let y = table.runtime.access(property, in: b)
        else { return false }
        let (first, second) = (a.double(x), b.double(y))
        if first.isNaN || second.isNaN { return first.isNaN && second.isNaN }
        return abs(first - second) <= max(abs(first), abs(second)) * (kind == .float ? 1e-4 : 1e-9)
    }
}
