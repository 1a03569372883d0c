import Heartwood

/// The source of one column's values, for the rows of one entity.
enum ExportSource {
    /// The rows of this entity have no value.
    case null
    case entityNumber(Int64)
    case entityName(String)
    /// `Z_OPT`.
    case version
    /// An attribute, by its index in the entity's properties.
    case value(property: Int, ExportForm)
    /// The key of a to-one relationship's destination.
    case key(property: Int, mustExist: Bool)
    case entityOfKey(property: Int)
    /// The first or the second value of the entry that one of the table's sorters has for the row's key.
    case linkFirst(sorter: Int)
    case linkSecond(sorter: Int)
}

/// The form in which an attribute's value is written.
enum ExportForm {
    case integer
    case number
    /// A decimal as a real of about 16 digits. Facts, "types".
    case decimalNumber
    case decimalText
    case text
    case bytes
    case uuid
    case uuidText
    case dateText
    /// The first byte says that the value follows. Facts, "external".
    case taggedBytes
    /// Data that may lie outside of its row.
    case value
    case taggedValue
}
