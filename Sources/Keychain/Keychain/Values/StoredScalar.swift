internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesSystem

/// A value that is stored as one piece of text, which a person can read.
protocol StoredScalar: Sendable {
  /// The name in the content type.
  static var storedName: String { get }

  /// The text, from which the same value can be read.
  var storedText: String { get }

  /// Creates the value from its text.
  init?(storedText: String)

  /// The value that readers get.
  var storedValue: Any { get }
}

extension StoredScalar {
  static var storedName: String { "\(Self.self)" }

  var storedValue: Any { self }
}

extension StoredScalar where Self: LosslessStringConvertible {
  var storedText: String { description }

  init?(storedText: String) { self.init(storedText) }
}

/// The scalars by their names in content types.
enum StoredScalars {
  private static let all: [any StoredScalar.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, Int128.self, UInt.self,
    UInt8.self, UInt16.self, UInt32.self, UInt64.self, UInt128.self, Float.self, Double.self,
    StoredFloat.self, Decimal.self, Date.self, URL.self, UUID.self, Data.self,
  ]

  static let byName: [String: any StoredScalar.Type] =
    Dictionary(uniqueKeysWithValues: all.map { ($0.storedName, $0) })
}

extension Bool: StoredScalar {}
extension Int: StoredScalar {}
extension Int8: StoredScalar {}
extension Int16: StoredScalar {}
extension Int32: StoredScalar {}
extension Int64: StoredScalar {}
extension Int128: StoredScalar {}
extension UInt: StoredScalar {}
extension UInt8: StoredScalar {}
extension UInt16: StoredScalar {}
extension UInt32: StoredScalar {}
extension UInt64: StoredScalar {}
extension UInt128: StoredScalar {}

// The description of a floating-point number is the shortest text with the same value, or `nan`,
// `inf`, `-inf` or `-0.0`.
extension Float: StoredScalar {}
extension Double: StoredScalar {}

/// A `CGFloat` of Foundation; a program that does not link `Prephirences` reads it as a `Double`.
struct StoredFloat: StoredScalar {
  static let storedName = "CGFloat"

  private static var type: (any PlainPreferenceValue.Type)? {
    TypeName.decodableType(named: "10Foundation7CGFloatV") as? any PlainPreferenceValue.Type
  }

  let number: Double

  /// Reads the number of a `CGFloat`; `nil` for another value.
  init?(_ value: Any) {
    guard !(Swift.type(of: value) is AnyClass), "\(Swift.type(of: value))" == Self.storedName,
      let number = (value as? any BridgedValue)?.swiftValue as? Double
    else { return nil }
    self.number = number
  }

  init?(storedText: String) {
    guard let number = Double(storedText: storedText) else { return nil }
    self.number = number
  }

  var storedText: String { number.storedText }

  var storedValue: Any { Self.type?.converted(from: number) ?? number }
}

extension Decimal: StoredScalar {
  private static let notANumber = "NaN"

  var storedText: String { isNaN ? Self.notANumber : description }

  init?(storedText: String) {
    if storedText == Self.notANumber {
      self = .nan
    } else {
      self.init(string: storedText, locale: nil)
    }
  }
}

extension Date: StoredScalar {
  /// The date in ISO 8601, or else in seconds since 2001-01-01 00:00:00 UTC.
  var storedText: String { iso8601 ?? timeIntervalSinceReferenceDate.storedText }

  init?(storedText: String) {
    if let date = Date(iso8601: storedText) {
      self = date
    } else if let seconds = Double(storedText: storedText) {
      self.init(timeIntervalSinceReferenceDate: seconds)
    } else {
      return nil
    }
  }

  /// The date in ISO 8601, without loss; `nil` for dates millions of years away, or within 0.1 ms
  /// of the beginning of 2001, which would need hundreds of digits.
  var iso8601: String? {
    let interval = timeIntervalSinceReferenceDate
    return interval.description.contains("e") ? nil : ISO8601.text(interval)
  }

  /// Reads a date with its time and zone; the fraction may have any number of digits.
  init?(iso8601 text: String) {
    guard let date = ISO8601(text, allowsLeapSecond: true), let offset = date.offset,
      let interval = date.interval(offset: offset)
    else { return nil }
    self.init(timeIntervalSinceReferenceDate: interval)
  }
}

extension URL: StoredScalar {
  /// The URL; a relative one is followed by its base on the next line.
  var storedText: String {
    baseURL.map { "\(relativeString)\n\($0.absoluteString)" } ?? relativeString
  }

  init?(storedText: String) {
    let lines = storedText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    switch lines.count {
    case 1: self.init(string: lines[0])
    case 2:
      guard let base = URL(string: lines[1]) else { return nil }
      self.init(string: lines[0], relativeTo: base)
    default: return nil
    }
  }
}

extension UUID: StoredScalar {
  var storedText: String { uuidString }

  init?(storedText: String) { self.init(uuidString: storedText) }
}

/// Data within an array or a dictionary; on its own, it is stored unchanged.
extension Data: StoredScalar {
  var storedText: String { base64EncodedString() }

  init?(storedText: String) { self.init(base64Encoded: storedText) }
}
