import Foundation

/// The order by relevance of objects that a fetch has found in memory.
extension NSManagedObjectContext {
    /// Sorts objects by relevance, as the stores do: the numbers of objects with each word include this context's changes if the fetch does.
    /// - Parameter isOwn: whether all objects are read with this context's values.
    final func sorted(
        _ objects: [NSManagedObject], by relevance: WordCondition, _ fetch: FetchSpecification, isOwn: Bool, _ reader: StoreReader
    ) throws -> [NSManagedObject] {
        var all = fetch
        (all.limit, all.offset, all.sort, all.relevance, all.predicate) = (0, 0, [], nil, nil)
        let total = try count(all)
        let counts = try relevance.query.words.map { word in
            guard !word.isPrefix else { return 0 }
            return try relevance.attributes.reduce(0) { sum, attribute in
                all.predicate = .words(WordCondition(query: WordQuery(words: [word]), attributes: [attribute]))
                return try sum + count(all)
            }
        }
        let terms = TextTerms(wantsTrigrams: false), attributeCount = relevance.attributes.count
        var classes: [UInt8] = []
        for object in objects {
            let source = isOwn ? object : try reader.stored(object, withChanges: fetch.includesPendingChanges)
            let start = classes.count
            classes.append(contentsOf: repeatElement(0, count: relevance.query.words.count * attributeCount))
            for (index, attribute) in relevance.attributes.enumerated() {
                guard case .text(var text) = try attribute.value(PredicateScope(subject: source)) else { continue }
                text.withUTF8 { terms.read(UnsafeRawBufferPointer($0)) }
                relevance.query.setClasses(of: terms, index, attributeCount, from: start, in: &classes)
            }
        }
        try reader.check()
        var scoring = Relevance(relevance.query, attributeCount: attributeCount, counts: counts, total: total)
        let scores = scoring.scores(classes)
        return TopRanks.indexes(scores, first: scores.count).map { objects[$0] }
    }
}
