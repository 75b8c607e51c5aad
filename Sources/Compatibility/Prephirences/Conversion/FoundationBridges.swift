internal import Foundation

#if !canImport(ObjectiveC)
/// Foundation's conversions of values to objects, which every program that links this module contains.
///
/// With `-static-stdlib`, the linker takes from Foundation only the object files that something
/// refers to. Foundation looks up these conversions at run time, so nothing refers to them; without
/// them, property lists with arrays are refused, and keyed archives are empty, without an error.
package enum FoundationBridges {
  package static var types: [any _ObjectiveCBridgeable.Type] {
    [
      [Any].self, [AnyHashable: Any].self, Set<AnyHashable>.self,
      Bool.self, Int.self, Double.self, String.self, Substring.self, Decimal.self,
      Calendar.self, CharacterSet.self, Data.self, Date.self, DateComponents.self,
      DateInterval.self, IndexPath.self, IndexSet.self, Locale.self, Measurement<Unit>.self,
      Notification.self, PersonNameComponents.self, TimeZone.self, URL.self, URLComponents.self,
      URLQueryItem.self, UUID.self,
    ]
  }
}
#endif
