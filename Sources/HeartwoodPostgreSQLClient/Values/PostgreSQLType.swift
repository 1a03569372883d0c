/// A type by its number in the server's catalog. The numbers of built-in types never change (src/include/catalog/pg_type.dat of PostgreSQL).
package struct PostgreSQLType: Hashable, Sendable {
    package let number: UInt32

    @inlinable
    package init(_ number: UInt32) { self.number = number }

    package static let bool = PostgreSQLType(16)
    package static let bytea = PostgreSQLType(17)
    package static let name = PostgreSQLType(19)
    package static let int8 = PostgreSQLType(20)
    package static let int2 = PostgreSQLType(21)
    package static let int4 = PostgreSQLType(23)
    package static let text = PostgreSQLType(25)
    package static let oid = PostgreSQLType(26)
    package static let json = PostgreSQLType(114)
    package static let float4 = PostgreSQLType(700)
    package static let float8 = PostgreSQLType(701)
    package static let unknown = PostgreSQLType(705)
    package static let bpchar = PostgreSQLType(1042)
    package static let varchar = PostgreSQLType(1043)
    package static let timestamptz = PostgreSQLType(1184)
    package static let numeric = PostgreSQLType(1700)
    package static let uuid = PostgreSQLType(2950)
    package static let xid8 = PostgreSQLType(5069)

    /// The type of arrays of this type; nil for a type that parameters do not have.
    package var array: PostgreSQLType? { Self.arrays[self] }

    private static let arrays: [PostgreSQLType: PostgreSQLType] = [
        .bool: PostgreSQLType(1000), .bytea: PostgreSQLType(1001), .int2: PostgreSQLType(1005), .int4: PostgreSQLType(1007),
        .text: PostgreSQLType(1009), .int8: PostgreSQLType(1016), .float4: PostgreSQLType(1021), .float8: PostgreSQLType(1022),
        .timestamptz: PostgreSQLType(1185), .numeric: PostgreSQLType(1231), .uuid: PostgreSQLType(2951), .xid8: PostgreSQLType(271),
    ]
}
