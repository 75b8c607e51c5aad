/// A value of any type, represented by its stored properties.
struct ReflectedValue {
  let value: Any

  /// The stored properties by their names, including those of superclasses and excluding those that
  /// are `nil`.
  var properties: PreferencesDictionary {
    var properties: PreferencesDictionary = [:]
    for (name, value) in labelled where properties[name] == nil {
      properties[name] = unwrapped(value)
    }
    return properties
  }

  /// Returns the value of a property; a path such as `address.city` goes through several.
  ///
  /// A property whose name equals the whole path is preferred.
  func value(at path: String) -> Any? {
    if let value = property(path) { return value }
    guard let dot = path.firstIndex(of: "."),
      let value = property(String(path[..<dot]))
    else { return nil }
    return ReflectedValue(value: value).value(at: String(path[path.index(after: dot)...]))
  }

  /// Returns the type of a property, even if its value is `nil`; `nil` if there is no such
  /// property.
  func type(of name: String) -> Any.Type? {
    labelled.first { $0.0 == name }.map { Swift.type(of: $0.1) }
  }

  /// The names and types of the stored properties.
  var types: [(name: String, type: Any.Type)] { labelled.map { ($0.0, Swift.type(of: $0.1)) } }

  private func property(_ name: String) -> Any? {
    if let dictionary = value as? PreferencesDictionary { return unwrapped(dictionary[name]) }
    return labelled.first { $0.0 == name }.flatMap { unwrapped($0.1) }
  }

  private var labelled: [(String, Any)] {
    var all: [(String, Any)] = []
    var mirror: Mirror? = Mirror(reflecting: value)
    while let current = mirror {
      all += current.children.compactMap { child in child.label.map { ($0, child.value) } }
      mirror = current.superclassMirror
    }
    return all
  }
}
