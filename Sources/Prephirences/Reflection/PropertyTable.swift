/// The properties of an object that are preferences, by their keys.
struct PropertyTable {
  /// What can be read, and perhaps set, by a key path.
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

  /// The name that the description of a key path has, as in `\Person.address.city`.
  ///
  /// Where a property is reached by a function, there is an address in its place.
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

  /// The name of the only stored property of the type that has no key path yet.
  private func onlyName(of path: AnyKeyPath, in object: Any) -> PreferenceKey? {
    let type = type(of: path).valueType
    let names = ReflectedValue(value: object).types
      .filter { $0.type == type && keyPaths[$0.name] == nil }
    return names.count == 1 ? names[0].name : nil
  }
}
