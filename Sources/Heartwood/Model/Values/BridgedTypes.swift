#if !canImport(ObjectiveC)
    import Foundation

    /// The types of values that Foundation turns into its own objects by looking for how while the program runs.
    ///
    /// A program with the libraries linked statically has only those files of Foundation that something in it names, and an array is
    /// `NSArray` to property lists and archives only where the file that says so is among them. So all are named here.
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
