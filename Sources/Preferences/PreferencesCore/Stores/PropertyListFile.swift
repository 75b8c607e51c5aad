package import Foundation

/// A property list whose root is a dictionary of preferences.
package struct PropertyListFile {
  package typealias Format = PropertyListSerialization.PropertyListFormat

  package let path: String

  package init(path: String) { self.path = path }

  package func read() throws(PreferencesError) -> (values: PreferencesDictionary, format: Format) {
    let (root, format) = try PropertyListReader.readDictionary(AtomicFile(path: path).read()) {
      "the file '\(path)' is \($0); repair it, or move it away"
    }
    return (PropertyListForm.decode(root: root), format)
  }

  package func write(
    _ values: PreferencesDictionary, format: Format, atomically: Bool = true
  ) throws(PreferencesError) {
    let data = try Self.data(
      of: PropertyListForm.encode(root: values, isXML: format == .xml), format: format)
    try AtomicFile(path: path).write(data, atomically: atomically)
  }

  private static func data(
    of root: PreferencesDictionary, format: Format
  ) throws(PreferencesError) -> Data {
    guard format != .xml else { return try XMLPropertyList.data(of: root) }
    do {
      return try PropertyListSerialization.data(fromPropertyList: root, format: format, options: 0)
    } catch {
      throw PreferencesError(.unstorable, "the values cannot be written as a property list")
    }
  }
}

extension PropertyListForm {
  /// Returns the form of preferences, together with the exact dates.
  fileprivate static func encode(
    root values: PreferencesDictionary, isXML: Bool
  ) throws(PreferencesError) -> PreferencesDictionary {
    var root: PreferencesDictionary = [:]
    for (key, value) in values {
      let form = try encode(entry: value, key)
      root[key] = isXML ? XMLPropertyList.form(form) : form
      root[ExactDates.key(beside: key)] = ExactDates.list(of: form)
    }
    if isReference(root) {
      throw .unstorableValue(referenceKey, type(of: root[referenceKey] ?? root))
    }
    return root
  }

  private static func encode(
    entry value: PreferenceObject, _ key: PreferenceKey
  ) throws(PreferencesError) -> Any {
    do throws(Unstorable) {
      if beginsWithByteOrderMark(key) { throw Unstorable(type: type(of: value)) }
      return try encode(value)
    } catch {
      throw .unstorableValue(key, error.type)
    }
  }

  /// Returns the preferences of a form.
  fileprivate static func decode(root: PreferencesDictionary) -> PreferencesDictionary {
    var values: PreferencesDictionary = [:]
    for (key, form) in root where !ExactDates.isBeside(key) {
      values[key] = ExactDates.restore(decode(form), root[ExactDates.key(beside: key)])
    }
    return values
  }
}
