internal import Foundation

extension PropertyListForm {
  /// Returns the property list form of a key's value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if a property list
  ///   cannot hold the key or the value.
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
