import Foundation
import Heartwood

/// Results in sections, as of one moment.
///
/// Source: https://developer.apple.com/documentation/swiftdata/sectionedresults
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Equatable {
    private let sections: [ResultsSection<Element, SectionTitle>]
    private let positions: [SectionTitle: Int]

    init(_ sections: [ResultsSection<Element, SectionTitle>]) {
        self.sections = sections
        positions = Dictionary(zip(sections.map(\.title), sections.indices)) { first, _ in first }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

    public var sectionTitles: [SectionTitle] { sections.map(\.title) }

    /// - Complexity: O(1), as the two below.
    public func contains(sectionTitle title: SectionTitle) -> Bool { positions[title] != nil }

    public func index(ofSectionTitled title: SectionTitle) -> Int? { positions[title] }

    /// The section with a title; nil if there is none.
    public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? { positions[title].map { sections[$0] } }
}

/// The results of one section.
///
/// Source: https://developer.apple.com/documentation/swiftdata/resultssection
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Identifiable, Equatable {
    public let title: SectionTitle
    private let results: FetchResultsCollection<Element>
    private let range: Range<Int>

    init(_ title: SectionTitle, _ results: FetchResultsCollection<Element>, _ range: Range<Int>) {
        self.title = title
        self.results = results
        self.range = range
    }

    public var id: SectionTitle { title }
    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }

    /// - Precondition: the position is in the section.
    public subscript(position: Int) -> Element {
        precondition(indices.contains(position), "A section of \(range.count) results has none at \(position).")
        return results[range.lowerBound + position]
    }

    public static func == (a: ResultsSection, b: ResultsSection) -> Bool { a.title == b.title && a.elementsEqual(b, by: ===) }
}
