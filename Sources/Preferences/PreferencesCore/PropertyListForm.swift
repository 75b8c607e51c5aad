internal import FoundationEssentials
internal import PrephirencesSystem

/// Converts values to their property list form and back.
///
/// | value | in the property list | read again |
/// | --- | --- | --- |
/// | `String` and other text, `Bool`, `Data`, `Date` | the same, text as `String` | the same |
/// | `String` that begins with a byte order mark | data: a ``MarkedArchive`` | the same |
/// | number that is an `Int`, `UInt64` or `Double` | integer or real | a castable `NSNumber` |
/// | `URL`, `UUID`, `Decimal`, dates outside the calendar | data: a ``MarkedArchive`` | the same |
/// | array, dictionary of these | array, dictionary | `[Any]`, `[String: Any]` |
///
/// Values of some other types have the form of the value that they represent, see
/// ``value(standingFor:)``; the rest has none.
package enum PropertyListForm {
  /// Reports a type that has no form.
  package struct Unstorable: Error {
    package let type: Any.Type
  }

  /// The maximum nesting depth of a value.
  package static let maximumDepth = 200

  /// Returns the form of a value.
  package static func encode(_ value: Any, depth: Int = 0) throws(Unstorable) -> Any {
    guard depth < maximumDepth, let value = unwrapped(value) else {
      throw Unstorable(type: type(of: value))
    }
    let type = type(of: value)
    if type == Int.self || type == Bool.self || type == Double.self { return value }
    if type is AnyClass { return try encode(other: value, depth: depth) }
    switch value {
    case let text as String where !beginsWithByteOrderMark(text): return value
    case let date as Date where GregorianDay.contains(date): return value
    case is Data: return value
    case let array as [Any]:
      return try array.map { element throws(Unstorable) in
        try encode(element, depth: depth + 1)
      }
    case let dictionary as PreferencesDictionary:
      var form: PreferencesDictionary = [:]
      for (key, value) in dictionary.droppingNil() {
        guard !beginsWithByteOrderMark(key) else { throw Unstorable(type: type) }
        form[key] = try encode(value, depth: depth + 1)
      }
      if isReference(form) { throw Unstorable(type: type) }
      return form
    case let url as URL: return MarkedArchive(url).data
    case let uuid as UUID: return MarkedArchive(uuid).data
    case let decimal as Decimal: return MarkedArchive(decimal).data
    case let text as String: return MarkedArchive(text).data
    case let date as Date: return MarkedArchive(date).data
    default: return try encode(other: value, depth: depth)
    }
  }

  /// Whether Foundation reads a dictionary of an XML property list as an archive's reference, and
  /// so never as a dictionary.
  static func isReference(_ form: PreferencesDictionary) -> Bool {
    form.count == 1 && form[referenceKey] is any Numeric
  }

  /// A dictionary with only this key is read as a reference if its value is a number.
  static let referenceKey = "CF$UID"

  /// Whether text begins with a byte order mark, which Foundation drops when it reads XML.
  static func beginsWithByteOrderMark(_ text: String) -> Bool {
    text.utf8.first == 0xEF && text.unicodeScalars.first == "\u{FEFF}"
  }

  private static func encode(other value: Any, depth: Int) throws(Unstorable) -> Any {
    guard let standing = self.value(standingFor: value) else {
      throw Unstorable(type: type(of: value))
    }
    return standing is UInt64 ? standing : try encode(standing, depth: depth)
  }

  /// Returns the value that stores keep for a value of another type, or `nil`.
  ///
  /// Text is a `String`, also as a dictionary's key. A number is an `Int`, a `UInt64` above its
  /// range, or a `Double`, and never rounded: wider numbers have no such value. An object of
  /// Foundation is the Swift value that it represents.
  package static func value(standingFor value: Any) -> Any? {
    switch value {
    // First, because the generic initializers of `CGFloat` stop the process.
    case let bridged as any BridgedValue: bridged.swiftValue
    case let text as any StringProtocol: String(text)
    case let number as any BinaryInteger: Int(exactly: number) ?? UInt64(exactly: number)
    case let number as any BinaryFloatingPoint: exactDouble(number)
    case let dictionary as [AnyHashable: Any]: textKeyed(dictionary)
    default: type(of: value) is AnyClass ? self.value(bridging: value) : nil
    }
  }

  /// Returns a dictionary with `String` keys, or `nil` if one is not text, or two are the same.
  private static func textKeyed(_ dictionary: [AnyHashable: Any]) -> PreferencesDictionary? {
    var values: PreferencesDictionary = [:]
    for (key, value) in dictionary {
      guard let text = self.value(standingFor: key.base) as? String,
        values.updateValue(value, forKey: text) == nil
      else { return nil }
    }
    return values
  }

  private static func value(bridging object: Any) -> Any? {
    switch object {
    case let text as String: text
    case let data as Data: data
    case let date as Date: date
    case let url as URL: url
    case let uuid as UUID: uuid
    case let array as [Any]: array
    default: nil
    }
  }

  private static func exactDouble(_ number: some BinaryFloatingPoint) -> Double? {
    let double = Double(number)
    return number.isNaN || type(of: number).init(double) == number ? double : nil
  }

  /// Reads a value from its form.
  package static func decode(_ form: Any) -> Any {
    let type = type(of: form)
    if type == String.self || type == Bool.self || type == Date.self { return form }
    if type == Int.self || type == Double.self { return NumberBoxing.boxed(form) }
    switch unwrapped(form) {
    case let data as Data: return MarkedArchive.value(of: data) ?? data
    case let array as [Any?]: return array.compactMap { $0.map(decode) }
    case let dictionary as [String: Any?]:
      return dictionary.compactMapValues { $0.map(decode) }
    case let value?: return value is any Numeric ? NumberBoxing.boxed(value) : value
    case nil: return form
    }
  }
}

extension PropertyListForm {
  /// Returns the property list form of a key's value.
  package static func encode(_ value: Any, forKey key: PreferenceKey) throws(PreferencesError)
    -> Any
  {
    do throws(Unstorable) {
      let form = try encode(value)
      // A reference would make the whole file unreadable; a key with a byte order mark would be
      // read as another key.
      if isReference([key: form]) || beginsWithByteOrderMark(key) {
        throw Unstorable(type: type(of: value))
      }
      return form
    } catch {
      throw .unstorableValue(key, error.type)
    }
  }
}

/// Writes XML property lists that every program reads.
///
/// XML does not have most characters below the space, U+FFFE and U+FFFF, and its readers convert a
/// carriage return to a line feed. Foundation writes all of them unchanged, and reads them again,
/// but other programs refuse the whole file, or read another text.
package enum XMLPropertyList {
  /// Returns the form of a value in which XML can hold it.
  ///
  /// Text with a character that XML does not have becomes a ``MarkedArchive``. Keys stay unchanged.
  package static func form(_ form: Any) -> Any {
    switch form {
    case is Bool, is Int, is Double, is Data, is Date: form
    case let text as String: isWritable(text) ? form : MarkedArchive(text).data
    case let array as [Any]: array.map(self.form)
    case let dictionary as PreferencesDictionary: dictionary.mapValues(self.form)
    default: form
    }
  }

  /// Whether XML has all characters of a text; if not, other programs refuse a file with it.
  package static func isWritable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "\t", "\n", "\r": true
      default: scalar.value >= 0x20 && scalar != "\u{FFFE}" && scalar != "\u{FFFF}"
      }
    }
  }
}
