import Foundation
import Heartwood

/// Names objects and times in a report.
struct ReportTitles {
    private let positions: [String: Int]

    /// - Parameter entities: in the order of the report's tables.
    init(_ entities: [NSEntityDescription]) {
        positions = Dictionary(entities.enumerated().map { ($0.element.title, $0.offset) }) { first, _ in first }
    }

    /// The position of an object's entity, a dot, and the last part of its URI.
    func id(_ object: NSManagedObjectID) -> String {
        "\(positions[object.entity.title] ?? -1).\(object.uriRepresentation().lastPathComponent)"
    }

    static func milliseconds(_ date: Date) -> Double { (date.timeIntervalSince1970 * 1000).rounded() }

    static func milliseconds(_ microseconds: Int64) -> Double { (Double(microseconds) / 1000).rounded() }
}
