public import Foundation

// Older programs and documents use the names from before Swift 3. Without these declarations,
// dynamic member lookup would treat the names as keys.
extension PreferencesType {
  /// The old name of ``object(forKey:)``.
  @available(*, unavailable, renamed: "object(forKey:)")
  public func objectForKey(_ key: PreferenceKey) -> PreferenceObject? { nil }

  /// The old name of ``string(forKey:)``.
  @available(*, unavailable, renamed: "string(forKey:)")
  public func stringForKey(_ key: PreferenceKey) -> String? { nil }

  /// The old name of ``array(forKey:)``.
  @available(*, unavailable, renamed: "array(forKey:)")
  public func arrayForKey(_ key: PreferenceKey) -> [PreferenceObject]? { nil }

  /// The old name of ``dictionary(forKey:)``.
  @available(*, unavailable, renamed: "dictionary(forKey:)")
  public func dictionaryForKey(_ key: PreferenceKey) -> PreferencesDictionary? { nil }

  /// The old name of ``stringArray(forKey:)``.
  @available(*, unavailable, renamed: "stringArray(forKey:)")
  public func stringArrayForKey(_ key: PreferenceKey) -> [String]? { nil }

  /// The old name of ``integer(forKey:)``.
  @available(*, unavailable, renamed: "integer(forKey:)")
  public func integerForKey(_ key: PreferenceKey) -> Int { 0 }

  /// The old name of ``float(forKey:)``.
  @available(*, unavailable, renamed: "float(forKey:)")
  public func floatForKey(_ key: PreferenceKey) -> Float { 0 }

  /// The old name of ``double(forKey:)``.
  @available(*, unavailable, renamed: "double(forKey:)")
  public func doubleForKey(_ key: PreferenceKey) -> Double { 0 }

  /// The old name of ``bool(forKey:)``.
  @available(*, unavailable, renamed: "bool(forKey:)")
  public func boolForKey(_ key: PreferenceKey) -> Bool { false }

  /// The old name of ``data(forKey:)``.
  @available(*, unavailable, renamed: "data(forKey:)")
  public func dataForKey(_ key: PreferenceKey) -> Data? { nil }

  /// The old name of ``url(forKey:)``.
  @available(*, unavailable, renamed: "url(forKey:)")
  public func URLForKey(_ key: PreferenceKey) -> URL? { nil }

  /// The old name of ``unarchiveObject(forKey:)``.
  @available(*, unavailable, renamed: "unarchiveObject(forKey:)")
  public func unarchiveObjectForKey(_ key: PreferenceKey) -> PreferenceObject? { nil }

  /// The old name of ``hasObject(forKey:)``.
  @available(*, unavailable, renamed: "hasObject(forKey:)")
  public func hasObjectForKey(_ key: PreferenceKey) -> Bool { false }
}

extension MutablePreferencesType {
  /// The old name of ``set(_:forKey:)-(PreferenceObject?,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setObject(_ value: PreferenceObject?, forKey key: PreferenceKey) {}

  /// The old name of ``set(_:forKey:)-(Int,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setInteger(_ value: Int, forKey key: PreferenceKey) {}

  /// The old name of ``set(_:forKey:)-(Float,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setFloat(_ value: Float, forKey key: PreferenceKey) {}

  /// The old name of ``set(_:forKey:)-(Double,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setDouble(_ value: Double, forKey key: PreferenceKey) {}

  /// The old name of ``set(_:forKey:)-(Bool,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setBool(_ value: Bool, forKey key: PreferenceKey) {}

  /// The old name of ``set(_:forKey:)-(URL?,_)``.
  @available(*, unavailable, renamed: "set(_:forKey:)")
  public func setURL(_ value: URL?, forKey key: PreferenceKey) {}

  /// The old name of ``removeObject(forKey:)``.
  @available(*, unavailable, renamed: "removeObject(forKey:)")
  public func removeObjectForKey(_ key: PreferenceKey) {}
}
