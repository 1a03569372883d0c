import Foundation
import RecordLog
import Synchronization

/// Builds the keys of an index from its specification, for rows of any layout. It finds columns by name; a column that is newer than a row's
/// layout is null.
final class SpecifiedKeys: IndexKeyExtractor {
    private let specification: IndexSpecification
    private let compiled = Mutex(Layouts())

    /// Unchecked: used only under the lock of `compiled`.
    private struct Layouts: @unchecked Sendable {
        var list: [(layout: RowLayout, keys: CompiledKeys?)] = []
        let scope = QueryScope(view: nil)
    }

    init(_ specification: IndexSpecification) {
        self.specification = specification
    }

    /// The function for `StoreOptions.makeExtractor`.
    static func make(_ name: String) -> (any IndexKeyExtractor)? {
        guard let specification = IndexSpecification(name: name) else { return nil }
        return specification.terms == nil ? SpecifiedKeys(specification) : TextTermExtractor(specification)
    }

    /// Whether the keys can be built from rows of a layout.
    func suits(_ layout: RowLayout) -> Bool { CompiledKeys(specification, layout) != nil }

    func appendKey(of row: UnsafeRowView, layout: RowLayout, to key: KeyBuilder) -> Bool {
        nonisolated(unsafe) let key = key, row = row
        return compiled.withLock { layouts in
            let index = layouts.list.firstIndex { $0.layout === layout } ?? layouts.list.count
            if index == layouts.list.count {
                // Each catalog brings new layout objects, and only the newest are in use.
                if index == Self.layoutsMax { layouts.list.removeAll() }
                layouts.list.append((layout, CompiledKeys(specification, layout)))
            }
            guard let keys = layouts.list[min(index, layouts.list.count - 1)].keys else { return false }
            return keys.append(row, to: key, layouts.scope)
        }
    }

    private static let layoutsMax = 16
}

/// A specification that is compiled for rows of one layout.
private struct CompiledKeys {
    private enum Part {
        case column(ColumnAccess, isDescending: Bool)
        case expression(any RowExpression, isText: Bool, isDescending: Bool)
    }

    private let parts: [Part]
    private let test: RowFilter?

    /// - Returns: nil where a part cannot be evaluated on such rows.
    init?(_ specification: IndexSpecification, _ layout: RowLayout) {
        let compiler = PredicateCompiler(table: EntityTable(rowsOf: layout), view: nil)
        var parts: [Part] = []
        for element in specification.elements {
            let isDescending = element.isDescending ?? false
            if let name = element.column {
                guard let access = layout.access(named: name) else { return nil }
                parts.append(.column(access, isDescending: isDescending))
            } else {
                guard let format = element.expression, let node = try? PredicateParser.parseExpression(format, arguments: []).node,
                    let expression = compiler.expression(node.rewriting(bound: []) { part, _ in layout.joined(part) }.folded)
                else { return nil }
                parts.append(.expression(expression, isText: element.isText ?? false, isDescending: isDescending))
            }
        }
        self.parts = parts
        guard let format = specification.predicate else {
            test = nil
            return
        }
        guard let node = try? PredicateParser.parse(format, arguments: []),
            let compiled = compiler.compile(node.rewriting { part, _ in layout.joined(part) }.folded)
        else { return nil }
        test = compiled
    }

    func append(_ row: UnsafeRowView, to key: KeyBuilder, _ scope: QueryScope) -> Bool {
        // `matches` throws where a pattern takes too long. Such a row is never in a partial index.
        if let test, (try? test.matches(row, scope)) != true { return false }
        for part in parts {
            switch part {
            case .column(let access, let isDescending): key.append(column: access, of: row, descending: isDescending)
            case .expression(let expression, let isText, let isDescending):
                key.append((try? expression.value(row, scope)) ?? .null, isText: isText, descending: isDescending)
            }
        }
        return true
    }
}

extension RowLayout {
    /// Turns a key path into a composite attribute into its column's name, which is one key; returns any other expression unchanged.
    fileprivate func joined(_ node: ExpressionNode) -> ExpressionNode {
        guard case .keyPath(let keys) = node, keys.count > 1 else { return node }
        let name = keys.joined(separator: ".")
        return access(named: name) == nil ? node : .keyPath([name])
    }

    /// Returns the access of a column; where the table got the column after this layout, the one to its default, or `.absent`.
    func access(named name: String) -> ColumnAccess? {
        if let position = columns.firstIndex(where: { $0.name == name }) { return access[position] }
        return laterColumns.first { $0.name == name }.map { access(of: $0.id) }
    }
}

extension EntityTable {
    /// A substitute for a table of which only a layout is known: each column becomes an attribute of a matching kind.
    fileprivate convenience init(rowsOf layout: RowLayout) {
        let entity = NSEntityDescription()
        let columns = layout.columns + layout.laterColumns
        entity.properties = columns.map { column in
            if column.type == .reference {
                let relationship = NSRelationshipDescription()
                relationship.name = column.name
                relationship.maxCount = 1
                return relationship
            }
            let attribute = NSAttributeDescription()
            attribute.name = column.name
            attribute.attributeType = AttributeCodec.first(column.type)?.type ?? .binaryDataAttributeType
            attribute.allowsExternalBinaryDataStorage = column.type == .value
            return attribute
        }
        entity.makeImmutable()
        var accesses = [[ColumnAccess]?](repeating: nil, count: Int(layout.id.rawValue) + 1)
        accesses[Int(layout.id.rawValue)] = Array(layout.access) + layout.laterAccess
        self.init(
            id: TableID(rawValue: 0), runtime: EntityRuntime(entity: entity, slot: 0, store: nil, accesses: accesses, of: [layout]), layout: layout,
            positions: columns.indices.map { $0 < layout.columns.count ? $0 : nil }, members: columns.map { _ in nil }, indexes: [], inbound: [],
            derivations: nil)
    }
}
