internal import FoundationEssentials
internal import PreferencesCore

/// Values as property lists, in the form that the property list files of `Prephirences` have.
enum PropertyListText {
  /// Returns the values of a property list whose root is a dictionary.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  static func values(of data: Data) throws(PreferencesError) -> [String: StoredValue] {
    let root = try PropertyListReader.readDictionary(data) { "this is \($0)" }.root
    var values: [String: StoredValue] = [:]
    for (key, form) in root where !ExactDates.isBeside(key) {
      let object = ExactDates.restore(
        PropertyListForm.decode(form), root[ExactDates.key(beside: key)])
      guard let value = StoredValue(object) else {
        throw PreferencesError(.damaged, "the property list has an unknown type at '\(key)'")
      }
      values[key] = value
    }
    return values
  }

  /// Returns the value of a property list of any type.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged``.
  static func value(of data: Data) throws(PreferencesError) -> StoredValue {
    do throws(PropertyListDamage) {
      let root = try PropertyListReader.read(data).root
      if let value = StoredValue(PropertyListForm.decode(root)) { return value }
    } catch {
      throw PreferencesError(.damaged, "this is not a property list: \(error.reason)")
    }
    throw PreferencesError(.damaged, "the property list has an unknown type")
  }

  /// Returns an XML property list of preferences, next to whose dates are their fractions.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` if a property list
  ///   cannot hold a key or value.
  static func data(of values: [String: StoredValue]) throws(PreferencesError) -> Data {
    var root: PreferencesDictionary = [:]
    for (key, value) in values {
      let form = try PropertyListForm.encode(value.object, forKey: key)
      try check(key)
      try checkKeys(of: form, in: key)
      root[key] = XMLPropertyList.form(form)
      root[ExactDates.key(beside: key)] = ExactDates.list(of: form)
    }
    return try PropertyListWriter.data(of: root, format: .xml)
  }

  /// Returns an XML property list of preferences.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``, also if two keys differ
  ///   in their bytes alone, such as an accent of its own: a dictionary would lose one of them.
  static func data(
    of values: [(key: String, value: StoredValue)]
  ) throws(PreferencesError) -> Data {
    var unique: [String: StoredValue] = [:]
    for (key, value) in values {
      guard unique.updateValue(value, forKey: key) == nil else {
        throw PreferencesError(
          .unstorable,
          "a property list cannot hold both keys '\(key)', which differ in their bytes alone; use JSON"
        )
      }
    }
    return try data(of: unique)
  }

  /// Returns an XML property list of one value.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable``.
  static func data(of value: StoredValue, forKey key: String) throws(PreferencesError) -> Data {
    let form = try PropertyListForm.encode(value.object, forKey: key)
    try checkKeys(of: form, in: key)
    return try PropertyListWriter.data(of: XMLPropertyList.form(form), format: .xml)
  }

  /// Fails if a dictionary in a value has a key that XML cannot hold.
  private static func checkKeys(of form: Any, in key: String) throws(PreferencesError) {
    switch form {
    case let array as [Any]:
      for element in array { try checkKeys(of: element, in: key) }
    case let dictionary as PreferencesDictionary:
      for (inner, value) in dictionary {
        try check(inner, in: key)
        try checkKeys(of: value, in: key)
      }
    default: break
    }
  }

  private static func check(_ key: String, in outer: String? = nil) throws(PreferencesError) {
    guard !XMLPropertyList.isWritable(key) else { return }
    let place = outer.map { " in the value of '\($0)'" } ?? ""
    throw PreferencesError(
      .unstorable, "XML lacks a character of the key '\(key)'\(place); use JSON")
  }
}
