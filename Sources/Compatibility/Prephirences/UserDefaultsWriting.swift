public import Foundation
internal import PrephirencesSystem

extension UserDefaults: MutablePreferencesType {
  /// Why the last change through the protocols, subscripts and wrappers was refused or not saved;
  /// `nil` if it was saved.
  ///
  /// All threads share it, as part of this object. For ``BackedUserDefaults``, it is also the
  /// failure of the last read, until a read succeeds.
  public var lastPreferencesError: PreferencesError? {
    if let backed { return backed.failure }
    return FailedObjects.shared[self]
  }

  private func record(_ values: [(PreferenceKey, PreferenceObject?)]) {
    if let backed { return backed.write(values) }
    do throws(PreferencesError) {
      try save(values)
      FailedObjects.shared[self] = nil
    } catch {
      FailedObjects.shared[self] = error
    }
  }

  /// Sets the value of a key, and saves it; `nil` removes the key, and an unsupported value changes
  /// nothing.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    record([(key, value)])
  }

  /// Removes a key and its value, and saves the change.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,removeObject(forKey:))
  public func removePreference(forKey key: PreferenceKey) { record([(key, nil)]) }

  /// Sets the value of a key to an integer.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Int, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a number in single precision.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Float, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a number.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Double, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a truth value.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: Bool, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Sets the value of a key to a URL; `nil` removes the key.
  @_disfavoredOverload
  @_implements(MutablePreferencesType,set(_:forKey:))
  public func setPreference(_ value: URL?, forKey key: PreferenceKey) { record([(key, value)]) }

  /// Removes a key and its value, and saves the change.
  ///
  /// On Linux, a literal `nil` would otherwise call a method of `UserDefaults` that never returns.
  public func set(_ value: _OptionalNilComparisonType, forKey key: PreferenceKey) {
    record([(key, nil)])
  }

  /// Sets the values of several keys, and saves them in one step; other keys do not change.
  ///
  /// JSON's `NSNull` is left out at any depth. If any other value cannot be stored, nothing
  /// changes.
  public func set(dictionary: PreferencesDictionary) {
    record(withoutNulls(dictionary).map { ($0.key, $0.value) })
  }

  /// Records a refused value as ``lastPreferencesError``.
  public func didRefuse(_ error: PreferencesError, forKey key: PreferenceKey) {
    if let backed { return backed.record(error) }
    FailedObjects.shared[self] = error
  }

  /// Removes all keys that can be removed, and saves the change.
  ///
  /// These are the keys of the program or of the suite; defaults that are registered, given as
  /// arguments or from the system stay.
  public func clearAll() {
    if let backed { return backed.clear() }
    // A dictionary lists only one of several canonically equivalent keys at a time, and user
    // defaults only save the removal of one together with the others.
    var remaining = Int.max
    while case let keys = dictionaryRepresentation().keys, keys.count < remaining {
      remaining = keys.count
      for key in keys {
        removeObject(forKey: key)
        removeObject(forKey: key.precomposedStringWithCanonicalMapping)
        removeObject(forKey: key.decomposedStringWithCanonicalMapping)
      }
      record([])
    }
    UserDefaultsObservers.shared.look()
  }
}

extension UserDefaults {
  /// Sets the values of several keys, and saves them.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/unstorable`` for a value that a
  ///   property list cannot hold, before anything is changed; with
  ///   ``PreferencesError/Code/inputOutput`` if the values were set, but not saved.
  public func save(_ values: PreferencesDictionary) throws(PreferencesError) {
    try save(values.map { ($0.key, $0.value) })
  }

  func save(_ values: [(PreferenceKey, PreferenceObject?)]) throws(PreferencesError) {
    if let backed { return try backed.storeAll(values) }
    var forms: [(PreferenceKey, PreferenceValue?)] = []
    for (key, value) in values {
      let value = unwrapped(value)
      forms.append(
        (key, value == nil ? nil : try PropertyListForm.encode(value as Any, forKey: key)))
    }
    replace(forms)
    defer { UserDefaultsObservers.shared.look(at: forms.map(\.0)) }
    guard UserDefaultsLock.withLock(synchronize) else {
      throw PreferencesError(.inputOutput, "the user defaults could not be saved")
    }
  }

  private func replace(_ forms: [(PreferenceKey, PreferenceValue?)]) {
    // All reads precede the first write, because a read after a write collects all defaults again.
    let dated = Set(
      forms.lazy.map { ExactDates.key(beside: $0.0) }.filter { self.object(forKey: $0) != nil })
    for (key, form) in forms {
      let beside = ExactDates.key(beside: key)
      guard let form else {
        removeObject(forKey: key)
        if dated.contains(beside) { removeObject(forKey: beside) }
        continue
      }
      // The value comes first: exact dates that do not match it are ignored.
      if let dates = ExactDates.list(of: form) {
        set(dates.plain as Any?, forKey: beside)
      } else if dated.contains(beside) {
        removeObject(forKey: beside)
      }
      set(form.plain as Any?, forKey: key)
    }
  }
}

/// Prevents two processes from saving user defaults at the same time.
///
/// To save, Foundation reads the file, applies the changes of the process, and writes the whole
/// file: changes that another process saved in between are lost. With this lock, one process waits
/// for the other. The lock is on the folder of the files, so no lock file is left behind, and it
/// ends with the process.
enum UserDefaultsLock {
  /// How long to wait for other processes: a process that is stopped while it saves must not block
  /// others, or slow down each change.
  private static let timeout = PosixMutex(Duration.seconds(5))

  static func withLock<Result>(_ body: () -> Result) -> Result {
    let folder = openFolder()
    guard folder >= 0 else { return body() }
    defer { close(folder) }
    lock(folder)
    return body()
  }

  /// Waits for the lock, and continues without it if that fails.
  private static func lock(_ file: Int32) {
    let deadline = ContinuousClock.now + timeout.withLock { $0 }
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else { return }
      guard ContinuousClock.now < deadline else {
        return timeout.withLock { $0 = .milliseconds(20) }
      }
      usleep(.random(in: 200...1000))
    }
    timeout.withLock { $0 = .seconds(5) }
  }

  /// Opens the folder, or creates it.
  private static func openFolder() -> Int32 {
    let path = path
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder < 0, errno == ENOENT, mkdir(path, 0o700) == 0 || errno == EEXIST else {
      return folder
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }

  /// The path where Foundation stores the files; for preferences it ignores the home of the
  /// account.
  private static var path: String {
    let environment = ProcessInfo.processInfo.environment
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder }
    return (environment["HOME"] ?? "") + "/.config"
  }
}
