/// The maintainers of a catalog's indexes, by table: made when they are first asked for, and kept from one transaction to the
/// next. Used by one thread at a time.
final class IndexMaintainers {
    let catalog: Catalog
    let options: StoreOptions
    private let path: String
    /// What the transaction makes its keys in that uses these.
    let oldKey = KeyBuilder(), newKey = KeyBuilder()
    /// By table ID.
    private var known: [[IndexMaintainer]?] = []

    init(catalog: Catalog, options: StoreOptions, path: String) {
        self.catalog = catalog
        self.options = options
        self.path = path
    }

    /// The same for another catalog.
    func with(_ catalog: Catalog) -> IndexMaintainers {
        IndexMaintainers(catalog: catalog, options: options, path: path)
    }

    /// - Throws: `schema` where an index has an extractor that was not registered.
    func of(_ table: TableID) throws(StoreError) -> [IndexMaintainer] {
        let number = Int(table.rawValue)
        if number < known.count, let made = known[number] { return made }
        var made: [IndexMaintainer] = []
        for index in catalog.indexes where index.table == table { made.append(try maintainer(of: index)) }
        while known.count <= number { known.append(nil) }
        known[number] = made
        return made
    }

    func maintainer(of index: IndexDefinition) throws(StoreError) -> IndexMaintainer {
        IndexMaintainer(index, try IndexKeyExtractors.extractor(of: index, options, path: path))
    }
}
