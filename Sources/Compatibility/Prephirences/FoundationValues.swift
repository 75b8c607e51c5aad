package import Foundation
package import PreferencesCore

extension NSNumber: BridgedValue {
  package var swiftValue: Any? {
    if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
    // Only the two truth values are unique number objects.
    if [true, false].contains(where: { self === NSNumber(value: $0) }) { return boolValue }
    return switch unsafe String(cString: objCType) {
    case "d": doubleValue
    case "f": floatValue
    case "Q": Int(exactly: uint64Value) ?? uint64Value as Any
    default: intValue
    }
  }

  package var numberText: String? { stringValue }
}

extension NSNull: BridgedNull {}

extension NumberBoxing: NumberBoxer {
  package static func object(of number: Any) -> Any {
    if let number = number as? NSNumber { return number }
    return switch number {
    case let number as CGFloat: NSNumber(value: Double(number))
    case let number as any BinaryInteger:
      Int(exactly: number).map { NSNumber(value: $0) } ?? UInt64(exactly: number).map {
        NSNumber(value: $0)
      } ?? number
    case let number as any BinaryFloatingPoint: exact(number)
    default: number
    }
  }

  private static func exact(_ number: some BinaryFloatingPoint) -> Any {
    let double = Double(number)
    return number.isNaN || type(of: number).init(double) == number
      ? NSNumber(value: double) : number
  }
}

extension CGFloat: BridgedValue {
  package var swiftValue: Any? { Double(self) }
  package var numberText: String? { Double(self).description }
}

extension CGFloat: PlainPreferenceValue {
  package static func converted(from value: Any) -> CGFloat? {
    // The generic initializers of `CGFloat` stop the process.
    Double.converted(from: value).map { CGFloat($0) }
  }
}

extension PropertyListReader.Format {
  /// Takes Foundation's name of a format; only XML and binary are written.
  package init(
    _ format: PropertyListSerialization.PropertyListFormat
  ) throws(PreferencesError) {
    switch format {
    case .xml: self = .xml
    case .binary: self = .binary
    default:
      throw PreferencesError(.unstorable, "a property list is written in XML or in binary only")
    }
  }

  /// Foundation's name of the format.
  package var foundationFormat: PropertyListSerialization.PropertyListFormat {
    switch self {
    case .xml: .xml
    case .binary: .binary
    }
  }
}

#if !canImport(ObjectiveC)
/// Foundation's conversions of values to objects, which every program that links this module
/// contains.
///
/// With `-static-stdlib`, the linker only takes the object files of Foundation that something
/// refers to. Foundation finds these conversions at run time, so nothing refers to them. Without
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

/// Creates and reads archives of objects.
///
/// `NSKeyedArchiver` stops the process on a value that it does not support, and `NSKeyedUnarchiver`
/// on many altered archives, so both are checked first. A program's own classes are responsible for
/// their `encode(with:)` and `init(coder:)`.
extension PreferenceArchive: ObjectArchiver {
  /// Returns the archive of a value, or `nil` if it cannot be archived.
  package static func archived(_ value: Any) -> Data? {
    guard let object = object(toArchive: value) else { return nil }
    let archiver = NSKeyedArchiver(requiringSecureCoding: false)
    let archiveGuard = ArchiveGuard()
    archiver.delegate = archiveGuard
    archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
    let data = archiver.finishedData
    return archiveGuard.hasRefused ? nil : data
  }

  /// Returns the value of an archive, or `nil` if the data is not an archive.
  package static func unarchived(_ data: Data) -> Any? {
    guard isSound(data), let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data)
    else { return nil }
    unarchiver.requiresSecureCoding = false
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    defer { unarchiver.finishDecoding() }
    let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
    return unarchiver.error == nil ? object : nil
  }

  /// Whether this program has a class with this name whose objects can be unarchived.
  package static func isArchivable(className: String) -> Bool {
    NSClassFromString(className) is any NSCoding.Type
  }

  /// Returns the object that a value is archived as, or `nil` if it cannot be archived.
  ///
  /// The archiver accepts only objects; in some builds it treats anything else as an object that
  /// cannot be archived.
  static func object(toArchive value: Any) -> AnyObject? {
    guard let value = unwrapped(value), isArchivable(value) else { return nil }
    return value as AnyObject
  }

  private static func isArchivable(_ value: Any, depth: Int = 0) -> Bool {
    guard depth < maximumDepth, let value = unwrapped(value) else { return false }
    switch value {
    case let array as [Any]:
      return array.allSatisfy { isArchivable($0, depth: depth + 1) }
    case let dictionary as [AnyHashable: Any]:
      return dictionary.allSatisfy { key, value in
        isArchivable(key.base, depth: depth + 1) && isArchivable(value, depth: depth + 1)
      }
    case let set as Set<AnyHashable>:
      return set.allSatisfy { isArchivable($0.base, depth: depth + 1) }
    // Archiving these crashes.
    case is Decimal, is NSDecimalNumber: return false
    default: return (value as AnyObject) is any NSCoding
    }
  }
}

extension NSKeyedArchiver {
  /// Ends the archive and returns it, or `nil` if the archiver could not write it.
  ///
  /// The archiver only reports that by empty data.
  var finishedData: Data? {
    finishEncoding()
    return encodedData.isEmpty ? nil : encodedData
  }
}

/// Refuses objects that would make an archiver stop the process, and records that.
final class ArchiveGuard: NSObject, NSKeyedArchiverDelegate {
  private var depth = 0
  private(set) var hasRefused = false

  func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
    depth += 1
    let object = object as AnyObject
    if depth <= PreferenceArchive.maximumDepth, Self.accepts(object) { return object }
    hasRefused = true
    return NSNull()
  }

  func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) { depth -= 1 }

  func archiver(
    _ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?
  ) {}

  func archiverWillFinish(_ archiver: NSKeyedArchiver) {}

  func archiverDidFinish(_ archiver: NSKeyedArchiver) {}

  /// Whether an object can be archived.
  ///
  /// On Linux, the class must have a name that can be looked up: it must not be generic, private or
  /// declared in another type.
  private static func accepts(_ object: AnyObject) -> Bool {
    guard object is any NSCoding else { return false }
    #if canImport(ObjectiveC)
    return true
    #else
    let name = String(reflecting: type(of: object))
    return name.split(separator: ".").count == 2 && !name.contains { "<(".contains($0) }
    #endif
  }
}
