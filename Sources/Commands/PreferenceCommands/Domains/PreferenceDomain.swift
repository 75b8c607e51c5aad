internal import PreferencesDurable
internal import PreferencesCore
internal import PrephirencesCommandLine

/// The preferences of a program, which are those of a suite.
struct PreferenceDomain {
  let name: String
  let store: any DomainStore

  /// Names the domain of this machine.
  init(named name: String) { self.init(named: name, in: FileDomain(named: name)) }

  init(named name: String, in store: any DomainStore) {
    self.name = name
    self.store = store
  }

  /// Returns whether it has a file, or its shared store an engine; nothing is created.
  func exists() throws -> Bool { try store.storedPath() != nil }

  /// The file with its preferences, also one that is refused; empty if there is none.
  var path: String {
    do { return try store.storedPath() ?? "" } catch {
      return (try? store.expectedPath()) ?? ""
    }
  }

  /// Returns the value of a key; `nil` if there is none.
  func value(forKey key: String) throws -> StoredValue? {
    guard let object = try store.value(forKey: key) else { return nil }
    return try Self.value(object, key)
  }

  /// Returns whether a key has a value, also one that cannot be read.
  func hasValue(forKey key: String) throws -> Bool {
    do {
      return try store.value(forKey: key) != nil
    } catch let error as PreferencesError where error.code == .damaged {
      guard try store.pairs().unreadable.contains(where: { $0.key.utf8.elementsEqual(key.utf8) })
      else { throw error }
      return true
    }
  }

  /// Returns all values that can be read, in the order of the bytes of their keys, and why others
  /// cannot.
  func contents() throws -> DomainContents {
    let pairs = try store.pairs()
    var contents = DomainContents()
    contents.unreadable = pairs.unreadable.map { ($0.key, $0.failure) }
    contents.importFailure = pairs.importFailure
    for (key, object) in pairs.pairs {
      do {
        contents.values.append((key, try Self.value(object, key)))
      } catch {
        contents.unreadable.append((key, error))
      }
    }
    contents.values.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    contents.unreadable.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return contents
  }

  /// Returns all keys, in the order of their bytes.
  func keys() throws -> [String] {
    let pairs = try store.pairs()
    if let failure = pairs.importFailure { throw failure }
    return (pairs.pairs.map(\.key) + pairs.unreadable.map(\.key))
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Performs reads and changes as one, in which nobody else comes in between.
  ///
  /// - Parameters:
  ///   - kind: How the changes belong together.
  ///   - body: Gets the domain to read and change. It may be called again.
  /// - Throws: What the closure throws, or the failure of the store.
  func change(
    _ kind: ChangeKind = .asOne, _ body: (PreferenceDomain) throws -> Void
  ) throws {
    try store.change(kind) { try body(PreferenceDomain(named: name, in: $0)) }
  }

  /// Sets the value of a key; `nil` removes it.
  func set(_ value: StoredValue?, forKey key: String) throws {
    try store.set(value?.object, forKey: key)
  }

  /// Returns every domain, in the order of the bytes of their names.
  static func all() throws -> [PreferenceDomain] {
    try DurablePreferences.storedSuiteNames().map { PreferenceDomain(named: $0) }
  }

  /// Returns the names of the domains; none if they cannot be found out.
  static func names() -> [String] { (try? DurablePreferences.storedSuiteNames()) ?? [] }

  private static func value(_ object: Any, _ key: String) throws -> StoredValue {
    guard let value = StoredValue(object) else { throw CommandLineError.unknownType(key) }
    return value
  }
}
