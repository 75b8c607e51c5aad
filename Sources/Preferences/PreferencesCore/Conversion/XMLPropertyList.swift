package import Foundation

/// Writes XML property lists that every program reads.
///
/// XML lacks most characters below the space, U+FFFE and U+FFFF, and its readers make a line feed of
/// a carriage return. Foundation writes all of them as they are, and reads them again, but other
/// programs refuse the whole file, or read another text.
package enum XMLPropertyList {
  /// Returns the form of a value in which XML holds it.
  ///
  /// Text with a character that XML lacks becomes a ``MarkedArchive``. Keys stay as they are, and so
  /// does text of which no archive can be made.
  ///
  /// - Parameter form: The form of the value in any property list.
  /// - Returns: The form.
  package static func form(_ form: Any) -> Any {
    switch form {
    case let number as Double where type(of: form) == Double.self && isNegativeZero(number):
      negativeZero
    case is Bool, is Int, is Double, is Data, is Date: form
    case let text as String: isWritable(text) ? form : MarkedArchive(text)?.data ?? form
    case let array as [Any]: array.map(self.form)
    case let dictionary as PreferencesDictionary: dictionary.mapValues(self.form)
    default: form
    }
  }

  /// Text in the place of -0.0, whose sign Foundation does not write; no other text is the same.
  private static let negativeZero = "-0.0 \(UUID().uuidString)"

  private static func isNegativeZero(_ number: Double) -> Bool {
    number == 0 && number.sign == .minus
  }

  /// Returns whether XML has all characters of a text.
  ///
  /// - Parameter text: The text.
  /// - Returns: `false` if other programs refuse a file with this text.
  package static func isWritable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "\t", "\n", "\r": true
      default: scalar.value >= 0x20 && scalar != "\u{FFFE}" && scalar != "\u{FFFF}"
      }
    }
  }

  /// Returns the bytes of a property list; each carriage return is written as its number.
  ///
  /// - Parameter root: The root, whose values have the form for XML.
  /// - Returns: The bytes.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``.
  package static func data(of root: Any) throws(PreferencesError) -> Data {
    var data: Data
    do {
      data = try PropertyListSerialization.data(fromPropertyList: root, format: .xml, options: 0)
    } catch {
      throw PreferencesError(.unstorable, "the values cannot be written as a property list")
    }
    let placeholder = Data("<string>\(negativeZero)</string>".utf8)
    while let range = data.range(of: placeholder) {
      data.replaceSubrange(range, with: Data("<real>-0.0</real>".utf8))
    }
    let carriageReturn = UInt8(ascii: "\r")
    guard data.contains(carriageReturn) else { return data }
    return Data(
      data.split(separator: carriageReturn, omittingEmptySubsequences: false)
        .joined(separator: Data("&#13;".utf8)))
  }
}
