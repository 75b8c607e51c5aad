/// An object's properties that are preferences, by their keys.
struct PropertyTable {
  /// The properties that a key path can read, and perhaps set.
  private(set) var keyPaths: [PreferenceKey: AnyKeyPath] = [:]

  /// Key paths whose names could not be derived.
  private(set) var nameless: [AnyKeyPath] = []

  init(named: [PreferenceKey: AnyKeyPath] = [:], _ paths: [AnyKeyPath] = [], of object: Any) {
    keyPaths = named
    var unnamed: [AnyKeyPath] = []
    for path in paths {
      if let name = Self.name(of: path) { keyPaths[name] = path } else { unnamed.append(path) }
    }
    for path in unnamed {
      if let name = onlyName(of: path, in: object) {
        keyPaths[name] = path
      } else {
        nameless.append(path)
      }
    }
  }

  /// Returns the name in a key path's description, such as `\Person.address.city`.
  ///
  /// For a property that is accessed by a function, the description has an address instead.
  private static func name(of path: AnyKeyPath) -> PreferenceKey? {
    let description = path.debugDescription
    let root = "\\\(type(of: path).rootType)."
    let name = description.hasPrefix(root) ? description.dropFirst(root.count) : description[...]
    let isPath = name.split(separator: ".", omittingEmptySubsequences: false)
      .allSatisfy { part in
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      }
    return isPath ? String(name) : nil
  }

  /// Returns the name of the only stored property of the type without a key path.
  private func onlyName(of path: AnyKeyPath, in object: Any) -> PreferenceKey? {
    let type = type(of: path).valueType
    let names = ReflectedValue(value: object).types
      .filter { $0.type == type && keyPaths[$0.name] == nil }
    return names.count == 1 ? names[0].name : nil
  }
}
