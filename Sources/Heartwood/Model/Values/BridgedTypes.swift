#if !canImport(ObjectiveC)
    import Foundation

    /// The value types that Foundation bridges to its own objects by a lookup at run time.
    ///
    /// A statically linked program contains only those files of Foundation that some symbol refers to. Property lists and archives treat an array
    /// as `NSArray` only if the file with that conformance is linked. So this list refers to all such types.
    package enum BridgedTypes {
        package static var all: [any _ObjectiveCBridgeable.Type] {
            [
                Array<Any>.self, Dictionary<AnyHashable, Any>.self, Set<AnyHashable>.self, AnyHashable.self, String.self, Data.self, Date.self,
                UUID.self, URL.self, Decimal.self, Bool.self, Int.self, Double.self, DateComponents.self, DateInterval.self, IndexPath.self,
                IndexSet.self, Locale.self, TimeZone.self, Calendar.self, Notification.self,
            ]
        }
    }
#endif
