import Foundation
import Heartwood

/// Results in sections, as of one moment.
///
/// Source: https://developer.apple.com/documentation/swiftdata/sectionedresults
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>: RandomAccessCollection, Equatable {
    private let sections: [ResultsSection<Element, SectionTitle>]

    init(_ sections: [ResultsSection<Element, SectionTitle>]) { self.sections = sections }

    public var startIndex: Int { 0 }
    public var endIndex: Int { sections.count }
    public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

    public var sectionTitles: [SectionTitle] { sections.map(\.title) }

    public func contains(sectionTitle: SectionTitle) -> Bool { index(ofSectionTitled: sectionTitle) != nil }

    public func index(ofSectionTitled sectionTitle: SectionTitle) -> Int? { sections.firstIndex { $0.title == sectionTitle } }

    public subscript(sectionTitle: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
        index(ofSectionTitled: sectionTitle).map { sections[$0] }
    }
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
