import Foundation
import RecordLog

extension PredicateValue {
    /// The value as a result dictionary contains it; an object becomes its ID.
    func object(as type: AttributeCodec) -> Any? {
        switch self {
        case .object(let object): return object.objectID
        case .collection(let members): return members.map { $0.object(as: type) ?? NSNull() }
        case .date(let seconds) where type.kind == .double: return NSNumber(value: seconds)
        // With its fraction, as SQL writes a double: "2.0".
        case .double(let number) where type.kind == .string: return "\(number)"
        case _ where type.kind == .string: return PredicateCast.string.apply(self).object
        default: return PredicateNumber(self).flatMap(type.result) ?? object
        }
    }

    /// Appends bytes that are the same for equal values and differ for all others.
    func appendIdentity(to key: KeyBuilder) {
        switch self {
        case .null: key.appendNull()
        case .bool, .integer, .double, .decimal:
            // Whole numbers of different kinds are equal.
            let number = PredicateNumber(self) ?? .integer(0)
            if let whole = number.integer, isEqual(.integer(whole)) {
                Kind.whole.append(to: key)
                key.append(int64: whole)
            } else if case .decimal(let decimal) = number {
                Kind.decimal.append(to: key)
                key.append(decimal: StoredDecimal(decimal))
            } else {
                Kind.double.append(to: key)
                key.append(double: number.double)
            }
        case .text(let text):
            Kind.text.append(to: key)
            key.append(text: text)
        case .date(let seconds):
            Kind.date.append(to: key)
            key.append(double: seconds)
        case .uuid(let uuid):
            Kind.uuid.append(to: key)
            key.append(uuid: uuid.storedBytes)
        case .data(let data):
            Kind.data.append(to: key)
            data.withUnsafeBytes { key.append(bytes: $0) }
        case .url(let url):
            Kind.url.append(to: key)
            key.append(text: url.absoluteString)
        case .object(let object): PredicateValue.objectID(object.objectID).appendIdentity(to: key)
        case .objectID(let id):
            Kind.object.append(to: key)
            key.append(int64: Int64(bitPattern: id.key.rawValue))
        case .collection(let members):
            Kind.collection.append(to: key)
            key.append(int64: Int64(members.count))
            for member in members { member.appendIdentity(to: key) }
        case .other(let object):
            // Such an object defines its own equality. The bytes of its archive are the best approximation.
            Kind.other.append(to: key)
            if let archive = try? ObjectArchive.data(object) {
                archive.withUnsafeBytes { key.append(bytes: $0) }
            } else {
                key.append(int64: Int64(ObjectIdentifier(object).hashValue))
            }
        }
    }

    private enum Kind: Int64 {
        case whole, decimal, double, text, date, uuid, data, url, object, collection, other

        func append(to key: KeyBuilder) { key.append(int64: rawValue) }
    }
}
