internal import Foundation

extension PropertyListForm {
  /// Returns the form of the value of a key.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if no property list can hold
  ///   the two.
  static func encode(_ value: Any, forKey key: PreferenceKey) throws(PreferencesError) -> Any {
    do throws(Unstorable) {
      let form = try encode(value)
      // The one would make all of the file unreadable, the other would be read under another key.
      if isReference([key: form]) || beginsWithByteOrderMark(key) {
        throw Unstorable(type: type(of: value))
      }
      return form
    } catch {
      throw .unstorableValue(key, error.type)
    }
  }
}
