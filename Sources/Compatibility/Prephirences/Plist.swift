public import Foundation
internal import PrephirencesSystem

/// Preferences in a property list file, XML or binary.
///
/// ```swift
/// let plist = try Plist(openingFile: "/my/file.plist")
/// plist["theme"] = "dark"
/// plist.write()
/// ```
///
/// The values are in memory; ``write(_:)`` writes all of them to the file, ``read()`` reads them
/// again. If several programs write the file, the last one wins. It is safe to use from several
/// threads.
///
/// Values are read back as they were set, numbers as `NSNumber`. Setting a value that a property
/// list cannot hold changes nothing, and ``lastPreferencesError`` has the reason until the next
/// write or read.
open class Plist: MutableDictionaryPreferences, ChangeRecording, @unchecked Sendable {
  /// The path of the file; `nil` for preferences from a dictionary literal.
  public let filePath: String?

  let state: PosixMutex<PlistState>

  // One thread at a time reads or writes, so that the last write has the last values.
  let access = NSLock()

  /// Creates preferences from a dictionary, for a file that the first write creates or replaces.
  ///
  /// - Parameter filePath: The path of the file; `nil` if there is none.
  public init(
    _ values: PreferencesDictionary, filePath: String?,
    format: PropertyListSerialization.PropertyListFormat = .xml
  ) {
    self.filePath = filePath
    state = PosixMutex(PlistState(format: format))
    super.init(dictionary: values)
  }

  /// Reads preferences from a file whose root is a dictionary.
  ///
  /// It is `nil` if the file is missing or damaged; ``init(contentsOfFile:)`` reports which.
  public override init?(filePath: String) {
    guard let file = try? PropertyListFile(path: filePath).readObjects() else { return nil }
    self.filePath = filePath
    state = PosixMutex(PlistState(format: file.format.foundationFormat))
    super.init(dictionary: file.values)
  }

  /// Reads preferences from a file whose root is a dictionary.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``.
  public convenience init(contentsOfFile path: String) throws(PreferencesError) {
    let file = try PropertyListFile(path: path).readObjects()
    self.init(file.values, filePath: path, format: file.format.foundationFormat)
  }

  /// Creates preferences from the elements of a dictionary literal, without a file.
  public required convenience init(dictionaryLiteral elements: (PreferenceKey, PreferenceObject)...)
  {
    self.init(
      PreferencesDictionary(elements) { _, last in last }, filePath: nil, format: .xml)
  }

  /// Whether each change is written to the file immediately; `false` by default.
  open var writeImmediately: Bool {
    get { state.withLock(\.writesImmediately) }
    set { state.withLock { $0.writesImmediately = newValue } }
  }

  /// An alias of ``writeImmediately``, spelled as in older programs.
  public final var writeImmediatly: Bool {
    get { writeImmediately }
    set { writeImmediately = newValue }
  }

  /// Writes all values to the file, in the format in which it was read; ``lastPreferencesError``
  /// has a failure.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Returns: Whether it succeeded.
  @discardableResult
  open func write(_ atomically: Bool = true) -> Bool {
    record { () throws(PreferencesError) in try writeFile(atomically: atomically) }
  }

  /// Replaces all values with those of the file.
  ///
  /// Returns `false` if the file is missing or damaged; ``lastPreferencesError`` has the reason.
  /// The values then stay, and a damaged file is not overwritten until it was removed or can be
  /// read again.
  @discardableResult
  open func read() -> Bool {
    record { () throws(PreferencesError) in try readFile() }
  }

  /// The failure of the last ``Plist/write(_:)`` or ``Plist/read()``, or of a value that was
  /// refused since; `nil` if there was none.
  public override var lastPreferencesError: PreferencesError? { state.withLock(\.lastError) }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// If a property list cannot hold the value, nothing changes, and ``lastPreferencesError`` has
  /// the reason.
  open override func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    if accepts(value, forKey: key) { super.set(value, forKey: key) }
  }

  /// Sets the values of several keys in one step; other keys do not change.
  ///
  /// If a property list cannot hold one of the values, nothing changes, and
  /// ``lastPreferencesError`` names it.
  open override func set(dictionary: PreferencesDictionary) {
    let dictionary = withoutNulls(dictionary)
    if dictionary.allSatisfy({ accepts($0.value, forKey: $0.key) }) {
      super.set(dictionary: dictionary)
    }
  }

  /// Records a refused value as ``lastPreferencesError``.
  open override func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    state.withLock { $0.lastError = error }
  }

  package func didChange(_ keys: () -> [PreferenceKey]) {
    if writeImmediately { write() }
  }
}

/// A property list reports values that it cannot hold, and failed writes.
extension Plist: FalliblePreferencesType {
  /// Returns the value of a key; it never throws, because the values are in memory.
  public func fetchObject(forKey key: PreferenceKey) -> PreferenceObject? { object(forKey: key) }

  /// Sets the value of a key; `nil` removes the key.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, before anything is changed. If ``writeImmediately`` is `true`,
  ///   also as ``writeFile(atomically:)``; the value is then in memory only.
  public func storeObject(
    _ value: PreferenceObject?, forKey key: PreferenceKey
  ) throws(PreferencesError) {
    try storeObjects([(key, value)])
  }

  /// Sets the values of several keys, or none if it cannot hold one of them; `nil` removes a key.
  ///
  /// - Throws: As ``storeObject(_:forKey:)``.
  public func storeObjects(
    _ values: [(key: PreferenceKey, value: PreferenceObject?)]
  ) throws(PreferencesError) {
    let values = values.map { ($0.key, unwrapped($0.value)) }
    for (key, value) in values {
      if let value { _ = try PropertyListForm.encode(value, forKey: key) }
    }
    if values.count == 1, let (key, value) = values.first {
      self[key] = value
    } else {
      for (key, value) in values where value == nil { removeObject(forKey: key) }
      set(dictionary: values.reduce(into: [:]) { $0[$1.0] = $1.1 })
    }
    if writeImmediately, let error = lastError { throw error }
  }
}

extension Plist: SynchronizingPreferences {
  /// Writes all values to the file, and throws as ``writeFile(atomically:)``.
  public func synchronize() throws(PreferencesError) { try writeFile() }
}

/// The state of a ``Plist``'s file.
struct PlistState {
  var format: PropertyListSerialization.PropertyListFormat
  var writesImmediately = false
  var lastError: PreferencesError?
  var isDamaged = false
}

extension Plist {
  /// Reads preferences from a file whose root is a dictionary; if it is missing, the first write
  /// creates it.
  ///
  /// - Parameter format: The format of a new file.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/damaged`` or
  ///   ``PreferencesError/Code/inputOutput``.
  public convenience init(
    openingFile path: String, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws(PreferencesError) {
    do throws(PreferencesError) {
      try self.init(contentsOfFile: path)
    } catch {
      guard error.code == .notFound else { throw error }
      self.init([:], filePath: path, format: format)
    }
  }

  /// Reads preferences from a property list in a bundle.
  ///
  /// It is `nil` if the file is missing or damaged. The name is without the extension `plist`.
  public convenience init?(filename: String?, bundle: Bundle = .main) {
    guard let filename, let path = bundle.path(forResource: filename, ofType: "plist") else {
      return nil
    }
    self.init(filePath: path)
  }

  /// Writes all values to the file, in the format in which it was read.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, ``PreferencesError/Code/damaged`` if the file was damaged when it
  ///   was read, or ``PreferencesError/Code/inputOutput``. The file does not change.
  public func writeFile(atomically: Bool = true) throws(PreferencesError) {
    let file = try file()
    access.lock()
    defer { access.unlock() }
    let format = state.withLock(\.format)
    if state.withLock(\.isDamaged), FileManager.default.fileExists(atPath: file.path) {
      throw PreferencesError(
        .damaged, "the file '\(file.path)' is damaged; it is not overwritten until it is removed")
    }
    try file.write(
      storage.all, format: PropertyListReader.Format(format), atomically: atomically)
    state.withLock { $0.isDamaged = false }
  }

  /// Replaces all values with those of the file.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/notFound``,
  ///   ``PreferencesError/Code/damaged`` or ``PreferencesError/Code/inputOutput``. The values do
  ///   not change.
  public func readFile() throws(PreferencesError) {
    let file = try file()
    defer { storage.observers.deliverPending() }
    access.lock()
    defer { access.unlock() }
    do throws(PreferencesError) {
      let content = try file.readObjects()
      state.withLock {
        $0.format = content.format.foundationFormat
        $0.isDamaged = false
      }
      storage.replaceAll(with: content.values)
    } catch {
      if error.code == .damaged { state.withLock { $0.isDamaged = true } }
      throw error
    }
  }

  /// Whether the file can hold a value; if not, records the error.
  ///
  /// In memory, such a value would prevent all others from being written.
  func accepts(_ value: PreferenceObject?, forKey key: PreferenceKey) -> Bool {
    guard let value = unwrapped(value) else { return true }
    do throws(PreferencesError) {
      _ = try PropertyListForm.encode(value, forKey: key)
      return true
    } catch {
      didRefuse(error, forKey: key)
      return false
    }
  }

  func record(_ body: () throws(PreferencesError) -> Void) -> Bool {
    do throws(PreferencesError) {
      try body()
      state.withLock { $0.lastError = nil }
      return true
    } catch {
      state.withLock { $0.lastError = error }
      return false
    }
  }

  private func file() throws(PreferencesError) -> PropertyListFile {
    guard let filePath else {
      throw PreferencesError(.notFound, "preferences of a dictionary literal have no file")
    }
    return PropertyListFile(path: filePath)
  }
}

/// The information property list of a bundle as read-only preferences.
extension Bundle: PreferencesType {
  /// Returns the value of a key.
  public func object(forKey key: PreferenceKey) -> PreferenceObject? {
    unwrapped(object(forInfoDictionaryKey: key)).map(FoundationForm.decode)
  }

  /// Returns all preferences.
  public func dictionary() -> PreferencesDictionary {
    (infoDictionary ?? [:]).droppingNil().mapValues(FoundationForm.decode)
  }
}

extension DictionaryPreferences {
  /// Reads preferences from a property list in a bundle.
  ///
  /// It is `nil` if the file is missing or damaged. The extension is `nil` if the name includes it.
  public convenience init?(
    filename: String?, ofType ext: String?, bundle: Bundle = .main
  ) {
    guard let filename, let path = bundle.path(forResource: filename, ofType: ext) else {
      return nil
    }
    self.init(filePath: path)
  }

  /// Writes all preferences to an XML property list; ``write(toFile:format:)`` throws a failure's
  /// reason.
  ///
  /// - Parameter atomically: Whether the old file stays until the new one is complete.
  /// - Returns: Whether it succeeded.
  @discardableResult
  public func writeToFile(_ path: String, atomically: Bool = true) -> Bool {
    let file = PropertyListFile(path: path)
    return (try? file.write(dictionary(), format: .xml, atomically: atomically)) != nil
  }

  /// Writes all preferences to a property list, XML or binary.
  ///
  /// The old file stays until the new one is complete and on disk. A symbolic link is followed.
  /// Only the owner can read a new file.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/inputOutput``, or
  ///   ``PreferencesError/Code/unstorable`` for a value that a property list cannot hold. The old
  ///   file stays.
  public func write(
    toFile path: String, format: PropertyListSerialization.PropertyListFormat = .xml
  ) throws(PreferencesError) {
    try PropertyListFile(path: path)
      .write(dictionary(), format: PropertyListReader.Format(format))
  }
}
