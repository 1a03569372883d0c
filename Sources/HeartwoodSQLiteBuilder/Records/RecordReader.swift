/// The values of a record that this builder made, in their order.
struct RecordReader {
    struct Value {
        let serial: UInt64
        let bytes: UnsafeRawPointer
    }

    private var type: UnsafeRawPointer
    private var content: UnsafeRawPointer

    @inline(__always)
    init(_ record: UnsafeRawPointer) {
        let header = Varint.read(record)
        type = record + header.size
        content = record + Int(truncatingIfNeeded: header.value)
    }

    @inline(__always)
    mutating func next() -> Value {
        let serial = Varint.read(type)
        type += serial.size
        defer { content += SerialType.size(serial.value) }
        return Value(serial: serial.value, bytes: content)
    }
}
