internal import Foundation

/// A value that is stored as one piece of text, which a person can read.
protocol StoredScalar: Sendable {
  /// The name in the content type.
  static var storedName: String { get }

  /// The text, from which the same value can be made.
  var storedText: String { get }

  /// Creates the value from its text.
  init?(storedText: String)
}

extension StoredScalar {
  static var storedName: String { "\(Self.self)" }
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
    CGFloat.self, Decimal.self, Date.self, URL.self, UUID.self, Data.self,
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

// The description of a floating-point number is the shortest text with the same value; it also has
// the forms `nan`, `inf`, `-inf` and `-0.0`.
extension Float: StoredScalar {}
extension Double: StoredScalar {}

extension CGFloat: StoredScalar {
  var storedText: String { native.storedText }

  init?(storedText: String) {
    guard let native = NativeType(storedText: storedText) else { return nil }
    self.init(native)
  }
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
  /// The date in ISO 8601; if that is not possible, in seconds since 2001-01-01 00:00:00 UTC.
  var storedText: String {
    StoredDate.text(of: self) ?? timeIntervalSinceReferenceDate.storedText
  }

  init?(storedText: String) {
    if let date = StoredDate.date(of: storedText) {
      self = date
    } else if let seconds = Double(storedText: storedText) {
      self.init(timeIntervalSinceReferenceDate: seconds)
    } else {
      return nil
    }
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

/// Data within an array or a dictionary; on its own it is stored as it is.
extension Data: StoredScalar {
  var storedText: String { base64EncodedString() }

  init?(storedText: String) { self.init(base64Encoded: storedText) }
}
