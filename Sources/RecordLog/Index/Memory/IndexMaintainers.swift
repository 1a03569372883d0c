/// The maintainers of a catalog's indexes, by table. They are made at the first use and kept from one transaction to the next. Used by
/// one thread at a time.
final class IndexMaintainers {
    let catalog: Catalog
    let options: StoreOptions
    private let path: String
    /// Builders for the keys of the current transaction.
    let oldKey = KeyBuilder(), newKey = KeyBuilder()
    /// By table ID.
    private var known: [[IndexMaintainer]?] = []

    init(catalog: Catalog, options: StoreOptions, path: String) {
        self.catalog = catalog
        self.options = options
        self.path = path
    }

    /// New maintainers for another catalog, with the same options.
    func with(_ catalog: Catalog) -> IndexMaintainers {
        IndexMaintainers(catalog: catalog, options: options, path: path)
    }

    /// - Throws: `schema` if an index's extractor was not registered.
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
