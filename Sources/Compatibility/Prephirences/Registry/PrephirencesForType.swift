/// The preferences that are registered for keys of one type; see ``Prephirences``.
open class PrephirencesForType<Key: Hashable> {
  init() {}

  /// The preferences of a key; setting `nil` removes them from the registry.
  ///
  /// - Parameter key: The key.
  open subscript(key: Key) -> (any PreferencesType)? {
    get { Prephirences.instance(forKey: key) }
    set {
      if let newValue {
        Prephirences.registerInstance(newValue, forKey: key)
      } else {
        Prephirences.unregisterInstance(forKey: key)
      }
    }
  }
}
