import Foundation
import Heartwood

/// Makes the cells of a report's rows, each of a bounded size.
struct ReportCellMaker {
    private static let textMax = 400
    private static let startMax = 16
    private static let membersMax = 12
    /// The most members that are loaded to find the first ones, where no index of an inverse has these.
    private static let loadedMax = 1000
    private static let pictureMax = 48 << 10
    /// What all pictures of a page may take.
    private static let picturesMax = 4 << 20

    private let titles: ReportTitles
    private var pictureBytes = 0

    init(_ titles: ReportTitles) { self.titles = titles }

    // MARK: Attributes

    mutating func cell(_ object: NSManagedObject, _ attribute: NSAttributeDescription) -> ReportCell {
        if attribute.attributeType == .transformableAttributeType { return transformable(object, attribute) }
        guard let value = object.attributeValue(attribute) else { return .null }
        if let data = value as? Data { return cell(data) }
        if let date = value as? Date { return .number(ReportTitles.milliseconds(date)) }
        switch AttributeText.json(value) {
        case .text(let text): return Self.cell(text)
        // JavaScript's numbers have 53 bits.
        case .integer(let number): return number.magnitude < 1 << 53 ? .number(Double(number)) : .text("\(number)")
        case .double(let number): return number.isFinite ? .number(number) : .text(AttributeText.text(.double(number)))
        case .bool(let flag): return .flag(flag)
        case .list, .object: return .text(AttributeText.text(value))
        }
    }

    static func cell(_ text: String) -> ReportCell {
        text.utf8.count <= textMax || text.count <= textMax ? .text(text) : .cut(String(text.prefix(textMax)), length: text.count)
    }

    private func transformable(_ object: NSManagedObject, _ attribute: NSAttributeDescription) -> ReportCell {
        guard let bytes = object.storedData(of: attribute) else { return .null }
        guard let value = object.attributeValue(attribute) else {
            return .object(type: attribute.valueTransformerName ?? "unknown class", text: nil, bytes: bytes.count)
        }
        let text = String(AttributeText.text(value).prefix(Self.textMax))
        return .object(type: "\(Swift.type(of: value))", text: text, bytes: bytes.count)
    }

    private mutating func cell(_ data: Data) -> ReportCell {
        let start = data.prefix(Self.startMax).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return .data(bytes: data.count, start: start, picture: picture(data))
    }

    /// Only kinds that a browser shows as a picture, by their first bytes. SVG is not among them: it may have a script.
    private mutating func picture(_ data: Data) -> ReportCell.Picture? {
        let head = [UInt8](data.prefix(12)), text = String(decoding: head, as: UTF8.self)
        let type: String? = if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { "image/png" }
            else if head.starts(with: [0xFF, 0xD8, 0xFF]) { "image/jpeg" }
            else if text.hasPrefix("GIF8") { "image/gif" }
            else if text.hasPrefix("RIFF"), head.count == 12, head[8...].elementsEqual("WEBP".utf8) { "image/webp" }
            else { nil }
        guard let type else { return nil }
        guard data.count <= Self.pictureMax, pictureBytes + data.count <= Self.picturesMax else { return ReportCell.Picture(type: type) }
        pictureBytes += data.count
        return ReportCell.Picture(type: type, base64: data.base64EncodedString())
    }

    // MARK: Relationships

    /// - Returns: also the ends that the cell names.
    func cell(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> (ReportCell, [NSManagedObjectID]) {
        guard relationship.isToMany else {
            guard let end = object.destinations(of: relationship).first?.objectID else { return (.null, []) }
            return (.reference(titles.id(end)), [end])
        }
        let (count, first) = members(object, relationship)
        return (.members(count: count, first: first.map(titles.id)), first)
    }

    /// The number of members, and the first ones. An index has the number: a relationship that may have millions of members is not loaded.
    private func members(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> (Int, [NSManagedObjectID]) {
        let inverse = relationship.inverseRelationship.flatMap { $0.isToMany ? nil : $0 }
        let count = relationship.isOrdered ? 0 : object.mutableSetValue(forKey: relationship.name).count
        guard count > (inverse == nil ? Self.loadedMax : Self.membersMax) else {
            let all = object.objectIDs(forRelationshipNamed: relationship.name)
            return (all.count, Array(all.prefix(Self.membersMax)))
        }
        return (count, inverse.map { first(object, relationship, $0) } ?? any(object, relationship))
    }

    private func any(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        (object.mutableSetValue(forKey: relationship.name).anyObject() as? NSManagedObject).map { [$0.objectID] } ?? []
    }

    /// The first members in the index of the inverse.
    private func first(
        _ object: NSManagedObject, _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription
    ) -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: relationship.destinationEntity?.title ?? "?")
        request.resultType = .managedObjectIDResultType
        request.predicate = NSPredicate(format: "%K == %@", inverse.name, object)
        request.fetchLimit = Self.membersMax
        return (try? object.managedObjectContext?.fetch(request)) ?? []
    }
}
