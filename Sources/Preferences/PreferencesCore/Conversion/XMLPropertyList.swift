package import FoundationEssentials

/// Writes XML property lists that every program reads.
///
/// XML lacks most characters below the space, U+FFFE and U+FFFF, and its readers make a line feed of
/// a carriage return. Foundation writes all of them as they are, and reads them again, but other
/// programs refuse the whole file, or read another text.
package enum XMLPropertyList {
  /// Returns the form of a value in which XML holds it.
  ///
  /// Text with a character that XML lacks becomes a ``MarkedArchive``. Keys stay as they are.
  package static func form(_ form: Any) -> Any {
    switch form {
    case is Bool, is Int, is Double, is Data, is Date: form
    case let text as String: isWritable(text) ? form : MarkedArchive(text).data
    case let array as [Any]: array.map(self.form)
    case let dictionary as PreferencesDictionary: dictionary.mapValues(self.form)
    default: form
    }
  }

  /// Returns whether XML has all characters of a text; if not, other programs refuse a file with it.
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
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``.
  package static func data(of root: Any) throws(PreferencesError) -> Data {
    try PropertyListWriter.data(of: root, format: .xml)
  }
}
