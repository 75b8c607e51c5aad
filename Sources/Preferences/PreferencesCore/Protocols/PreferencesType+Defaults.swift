public import FoundationEssentials

extension PreferencesType {
  /// The value of a key.
  ///
  /// - Parameter key: The key.
  public subscript(key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// The value of a key, written as a member.
  ///
  /// - Parameter key: The key.
  public subscript(dynamicMember key: PreferenceKey) -> PreferenceObject? { self[key] }

  /// Returns whether a key has a value.
  public func hasObject(forKey key: PreferenceKey) -> Bool { object(forKey: key) != nil }

  /// Returns the text of a key.
  public func string(forKey key: PreferenceKey) -> String? {
    PreferenceConversion(object(forKey: key)).string
  }

  /// Returns the array of a key.
  public func array(forKey key: PreferenceKey) -> [PreferenceObject]? {
    object(forKey: key) as? [PreferenceObject]
  }

  /// Returns the dictionary of a key.
  public func dictionary(forKey key: PreferenceKey) -> PreferencesDictionary? {
    object(forKey: key) as? PreferencesDictionary
  }

  /// Returns the array of strings of a key.
  public func stringArray(forKey key: PreferenceKey) -> [String]? {
    object(forKey: key) as? [String]
  }

  /// Returns the integer of a key.
  public func integer(forKey key: PreferenceKey) -> Int {
    PreferenceConversion(object(forKey: key)).integer
  }

  /// Returns the number of a key, in single precision.
  public func float(forKey key: PreferenceKey) -> Float {
    PreferenceConversion(object(forKey: key)).float
  }

  /// Returns the number of a key.
  public func double(forKey key: PreferenceKey) -> Double {
    PreferenceConversion(object(forKey: key)).double
  }

  /// Returns the truth value of a key.
  public func bool(forKey key: PreferenceKey) -> Bool {
    PreferenceConversion(object(forKey: key)).bool
  }

  /// Returns the bytes of a key.
  public func data(forKey key: PreferenceKey) -> Data? { object(forKey: key) as? Data }

  /// Returns the URL of a key.
  public func url(forKey key: PreferenceKey) -> URL? {
    PreferenceConversion(object(forKey: key)).url
  }

  /// Returns the object whose archive is the value of a key.
  public func unarchiveObject(forKey key: PreferenceKey) -> PreferenceObject? {
    data(forKey: key).flatMap(PreferenceArchive.unarchive)
  }
}
