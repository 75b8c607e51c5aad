internal import FoundationEssentials

/// A property list whose root is a dictionary of preferences.
package struct PropertyListFile {
  package typealias Format = PropertyListReader.Format

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
    let root = try PropertyListForm.encode(root: values, isXML: format == .xml)
    let data = try PropertyListWriter.data(of: root, format: format)
    try AtomicFile(path: path).write(data, atomically: atomically)
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
