internal import FoundationEssentials
internal import PrephirencesSystem

/// Converts values to their property list form and back.
///
/// | value | in the property list | read again |
/// | --- | --- | --- |
/// | `String` and other text, `Bool`, `Data`, `Date` | the same, text as `String` | the same |
/// | `String` that begins with a byte order mark | data: a ``MarkedArchive`` | the same |
/// | number that is an `Int`, `UInt64` or `Double` | integer or real | the same |
/// | `URL`, `UUID`, `Decimal`, dates outside the calendar | data: a ``MarkedArchive`` | the same |
/// | array, dictionary of these | array, dictionary | the same |
///
/// Values of some other types have the form of the value that they represent, see
/// ``value(standingFor:)``; the rest has none.
package enum PropertyListForm {
  /// Returns the form of a value.
  package static func encode(_ object: Any) throws(PreferenceValue.Unstorable) -> PreferenceValue {
    try encode(PreferenceValue(storing: object), depth: 0)
  }

  private static func encode(
    _ value: PreferenceValue, depth: Int
  ) throws(PreferenceValue.Unstorable) -> PreferenceValue {
    switch value {
    case .string(let text) where beginsWithByteOrderMark(text):
      return .data(MarkedArchive(text).data)
    case .date(let date) where !GregorianDay.contains(date): return .data(MarkedArchive(date).data)
    case .float(let number): return .double(Double(number))
    case .url(let url): return .data(MarkedArchive(url).data)
    case .uuid(let uuid): return .data(MarkedArchive(uuid).data)
    case .decimal(let decimal): return .data(MarkedArchive(decimal).data)
    case .array(let values):
      guard depth < PreferenceValue.maximumDepth else { throw .init(type: [Any].self) }
      return .array(
        try values.map { value throws(PreferenceValue.Unstorable) in
          try encode(value, depth: depth + 1)
        })
    case .dictionary(let values):
      guard depth < PreferenceValue.maximumDepth else {
        throw .init(type: PreferencesDictionary.self)
      }
      var form: [PreferenceKey: PreferenceValue] = [:]
      for (key, value) in values { form[key] = try encode(value, depth: depth + 1) }
      if isReference(form) || values.keys.contains(where: beginsWithByteOrderMark) {
        throw .init(type: PreferencesDictionary.self)
      }
      return .dictionary(form)
    default: return value
    }
  }

  /// Whether Foundation reads a dictionary of an XML property list as an archive's reference, and
  /// so never as a dictionary.
  static func isReference(_ form: [PreferenceKey: PreferenceValue]) -> Bool {
    switch form[referenceKey] {
    case .integer, .unsignedInteger, .double: form.count == 1
    default: false
    }
  }

  /// A dictionary with only this key is read as a reference if its value is a number.
  static let referenceKey = "CF$UID"

  /// Whether text begins with a byte order mark, which Foundation drops when it reads XML.
  static func beginsWithByteOrderMark(_ text: String) -> Bool {
    text.utf8.first == 0xEF && text.unicodeScalars.first == "\u{FEFF}"
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
  package static func decode(_ form: PreferenceValue) -> PreferenceValue {
    switch form {
    case .data(let data): MarkedArchive.value(of: data) ?? form
    case .array(let forms): .array(forms.map(decode))
    case .dictionary(let forms): .dictionary(forms.mapValues(decode))
    default: form
    }
  }

  /// Returns the property list form of a key's value, which a file may hold alone.
  package static func encode(
    _ object: Any, forKey key: PreferenceKey, isAlone: Bool = true
  ) throws(PreferencesError) -> PreferenceValue {
    do throws(PreferenceValue.Unstorable) {
      let form = try encode(object)
      // A reference would make the whole file unreadable; a key with a byte order mark would be
      // read as another key.
      if isAlone && isReference([key: form]) || beginsWithByteOrderMark(key) {
        throw .init(type: type(of: (object as? PreferenceValue)?.plain ?? object))
      }
      return form
    } catch {
      throw .unstorableValue(key, error.type)
    }
  }
}

extension PreferenceValue {
  /// The value as an object of Swift, without objects for its numbers.
  package var plain: PreferenceObject { object { $0 } }

  /// Returns the value as an object in which each number is what a function returns for it.
  package func object(numbers: (Any) -> Any) -> PreferenceObject {
    switch self {
    case .integer(let number): numbers(Int(number))
    case .unsignedInteger(let number): numbers(number)
    case .float(let number): numbers(number)
    case .double(let number): numbers(number)
    case .array(let values): values.map { $0.object(numbers: numbers) }
    case .dictionary(let values): values.mapValues { $0.object(numbers: numbers) }
    default: object
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
  package static func form(_ form: PreferenceValue) -> PreferenceValue {
    switch form {
    case .string(let text): isWritable(text) ? form : .data(MarkedArchive(text).data)
    case .array(let forms): .array(forms.map(self.form))
    case .dictionary(let forms): .dictionary(forms.mapValues(self.form))
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
