import Foundation
import Heartwood

/// The names of the model that a command line's store or model file has.
struct CompletionNames {
    private let model: NSManagedObjectModel?
    /// The entity that the line names.
    private let entity: NSEntityDescription?

    /// - Parameter given: the parameters of the line that have a value, with their texts.
    init(_ given: [(parameter: ParameterDeclaration, text: String)]) {
        let texts = given.filter { [.store, .model].contains($0.parameter.kind) }.map(\.text)
        // No server is asked for a key that is pressed.
        model = texts.lazy.filter { !DatabaseStore.isOne($0) }.compactMap { try? LoadedModel(path: $0).model }.first
        let name = given.first { $0.parameter.kind == .entity }?.text
        entity = model?.entities.first { $0.name == name }
    }

    var entities: [Completion.Candidate] {
        (model?.entities ?? []).compactMap(\.name).sorted().map { Completion.Candidate(word: $0, meaning: "") }
    }

    /// Candidates for the last name of a list: an attribute, or a relationship through which a key path goes on.
    func properties(_ list: String, isOrder: Bool) -> [Completion.Candidate] {
        let separators: [Character] = isOrder ? [",", ".", "-"] : [",", "."]
        let start = list.lastIndex { separators.contains($0) }.map { list.index(after: $0) } ?? list.startIndex
        let path = list[..<start].split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        let steps = path.drop { $0 == "-" }.split(separator: ".").map(String.init)
        let owner = steps.reduce(entity) { $0?.relationshipsByName[$1]?.destinationEntity }
        // Without an entity on the line, an attribute of any may be meant.
        let owners = entity == nil && steps.isEmpty ? model?.entities ?? [] : owner.map { [$0] } ?? []
        let names = Set(owners.flatMap { $0.properties.map(\.name) }).sorted()
        return names.map { Completion.Candidate(word: list[..<start] + $0, meaning: "") }
    }
}
