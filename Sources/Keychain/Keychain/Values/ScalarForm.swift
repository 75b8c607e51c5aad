internal import FoundationEssentials
internal import PreferencesCore
internal import PrephirencesSystem

/// How the values of a type are stored as one piece of text, which a person can read.
///
/// A `PreferenceValue` has one type for all whole numbers; here each number keeps its own.
struct ScalarForm: Sendable {
  /// The name of the type in content types.
  let name: String

  /// Returns the text of a value; `nil` for a value of another type.
  let text: @Sendable (Any) -> String?

  /// Returns the value of a text; `nil` if it is not the text of a value.
  let value: @Sendable (String) -> Any?

  /// The forms by their names.
  static let byName = Dictionary(
    uniqueKeysWithValues: (all.map(\.form) + [cgFloat]).map { ($0.name, $0) })

  /// Returns the form of a type; `nil` if its values are not stored as one piece of text.
  static func of(_ type: Any.Type) -> ScalarForm? { byType[ObjectIdentifier(type)] }

  private static let byType = Dictionary(
    uniqueKeysWithValues: all.map { (ObjectIdentifier($0.type), $0.form) })

  private static let all: [(type: Any.Type, form: ScalarForm)] = [
    described(Bool.self), described(Int.self), described(Int8.self), described(Int16.self),
    described(Int32.self), described(Int64.self), described(Int128.self), described(UInt.self),
    described(UInt8.self), described(UInt16.self), described(UInt32.self), described(UInt64.self),
    described(UInt128.self),
    // The description of a floating-point number is the shortest text with the same value, or
    // `nan`, `inf`, `-inf` or `-0.0`.
    described(Float.self), described(Double.self),
    form(Decimal.self, { $0.isNaN ? "NaN" : $0.description }) {
      $0 == "NaN" ? .nan : Decimal(string: $0, locale: nil)
    },
    // A date in ISO 8601, or else in seconds since 2001-01-01 00:00:00 UTC.
    form(Date.self, { $0.iso8601 ?? $0.timeIntervalSinceReferenceDate.description }) {
      Date(iso8601: $0) ?? Double($0).map(Date.init(timeIntervalSinceReferenceDate:))
    },
    // A relative URL is followed by its base on the next line.
    form(URL.self, \.lines, URL.init(lines:)),
    form(UUID.self, \.uuidString, UUID.init(uuidString:)),
    // Data within an array or a dictionary; on its own, it is stored unchanged.
    form(Data.self, { $0.base64EncodedString() }) { Data(base64Encoded: $0) },
  ]

  /// A `CGFloat` of Foundation; a program that does not link `Prephirences` reads it as a `Double`.
  static let cgFloat = ScalarForm(name: "CGFloat") { value in
    guard "\(type(of: value))" == "CGFloat" else { return nil }
    return ((value as? any BridgedValue)?.swiftValue as? Double)?.description
  } value: { text in
    let type = TypeName.decodableType(named: "10Foundation7CGFloatV")
    return Double(text).map {
      (type as? any PlainPreferenceValue.Type)?.converted(from: $0) ?? $0
    }
  }

  private static func described<Value: LosslessStringConvertible & Sendable>(
    _ type: Value.Type
  ) -> (type: Any.Type, form: ScalarForm) { form(type, \.description, Value.init(_:)) }

  private static func form<Value: Sendable>(
    _ type: Value.Type, _ text: @escaping @Sendable (Value) -> String,
    _ value: @escaping @Sendable (String) -> Value?
  ) -> (type: Any.Type, form: ScalarForm) {
    (type, ScalarForm(name: "\(type)", text: { ($0 as? Value).map(text) }, value: value))
  }
}

extension Date {
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

extension URL {
  /// The URL; a relative one is followed by its base on the next line.
  fileprivate var lines: String {
    baseURL.map { "\(relativeString)\n\($0.absoluteString)" } ?? relativeString
  }

  fileprivate init?(lines text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    switch lines.count {
    case 1: self.init(string: lines[0])
    case 2:
      guard let base = URL(string: lines[1]) else { return nil }
      self.init(string: lines[0], relativeTo: base)
    default: return nil
    }
  }
}
