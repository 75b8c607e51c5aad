internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

extension Engine {
  /// Reads the values that `UserDefaults` has saved, unless they were read already.
  func loadPropertyList() throws(PreferencesError) {
    let stamps = [FileStamp(file.propertyListPath)]
    if case .propertyList(let loaded) = source, loaded.stamps == stamps { return }
    let values = try propertyListValues()
    let before = source
    source = .propertyList(LoadedValues(values: values, stamps: stamps))
    cache.end()
    postChanges(from: before, to: values)
  }

  /// Returns the values of the property list; empty if there is none.
  private func propertyListValues() throws(PreferencesError) -> [KeyBytes: Any] {
    guard let stat = try translated(PrivateFile.look(file.propertyListPath)) else { return [:] }
    // Others may read it, but not have written it.
    try translated(PrivateFile.check(stat, file.propertyListPath, forbidden: 0o022))
    let values = try PropertyListFile(path: file.propertyListPath).read().values
    return [KeyBytes: Any](values.map { (KeyBytes($0), $1) }) { _, last in last }
  }

  /// Imports the values of the property list that have no value yet.
  ///
  /// If the list is damaged, the preferences can be used, and importing is tried again when they
  /// are next opened.
  func importPropertyList(into transaction: WriteTransaction) throws(PreferencesError) {
    guard !hasTriedToImport else { return transaction.importFailure = importFailure }
    hasTriedToImport = true
    let values: [KeyBytes: StoredValue]
    do throws(PreferencesError) {
      values = try valuesToImport()
      importFailure = nil
    } catch {
      importFailure = error
      return transaction.importFailure = error
    }
    for (key, value) in values { try transaction.insert(value, for: key) }
    try transaction.setImported()
  }

  /// Returns the values of the property list in the form in which they are stored.
  private func valuesToImport() throws(PreferencesError) -> [KeyBytes: StoredValue] {
    do throws(PreferencesError) {
      var values: [KeyBytes: StoredValue] = [:]
      for (key, value) in try propertyListValues() {
        values[key] = try ValueEncoder.encode(value, forKey: key.text)
      }
      return values
    } catch {
      throw PreferencesError(
        error.code,
        "the values of UserDefaults were not imported, and are tried again later: \(error.message)",
        systemCode: error.systemCode)
    }
  }

  /// Returns the value that a key without a row will have when the property list is imported; `nil` if
  /// there is none.
  func valueToImport(
    _ key: KeyBytes, into database: OpenDatabase
  ) throws(PreferencesError) -> Any? {
    guard !database.isImported, try !database.hasRow(key) else { return nil }
    return try valuesToImport()[key]?.decoded(forKey: key)
  }

  /// Returns all values of a database, with those of a property list that is not imported yet.
  func contents(of connection: SQLiteConnection) throws(PreferencesError) -> ReadablePairs {
    var contents = try OpenDatabase.contents(of: connection)
    guard try connection.integer("SELECT imported FROM state") == 0 else { return contents }
    do throws(PreferencesError) {
      var values = try valuesToImport()
      try OpenDatabase.forEachKey(of: connection) { values[$0] = nil }
      contents.pairs += values.compactMap { key, stored in
        ValueDecoder.decode(stored).map { (key.text, $0) }
      }
    } catch {
      contents.importFailure = error
    }
    return contents
  }

  /// Reads all values of a database that cannot be changed here, unless they were read already.
  func loadSnapshot() throws(PreferencesError) {
    let stamps = [file.path, file.logPath, file.propertyListPath].map { FileStamp($0) }
    if case .snapshot(let loaded) = source, loaded.stamps == stamps { return }
    let (contents, isShared) = try snapshotContents()
    let values = contents.pairs.map { (KeyBytes($0.key), $0.value) }
    let unreadable = contents.unreadable.map { (KeyBytes($0.key), $0.failure) }
    source = .snapshot(
      LoadedValues(
        values: Dictionary(values) { $1 }, stamps: stamps,
        unreadable: Dictionary(unreadable) { $1 }, isShared: isShared,
        importFailure: contents.importFailure))
    cache.end()
  }

  private func snapshotContents() throws(PreferencesError) -> (ReadablePairs, isShared: Bool) {
    try file.checkSidecars()
    let log = try translated(PrivateFile.look(file.logPath))
    if log?.size ?? 0 == 0 {
      return try closedContents(of: SQLiteConnection(path: file.path, mode: .immutable))
    }
    let copy = try SnapshotCopy(of: file)
    return try closedContents(of: SQLiteConnection(path: copy.path, mode: .readWrite))
  }

  /// Returns all values, and whether they are shared, and closes the connection.
  private func closedContents(
    of connection: SQLiteConnection
  ) throws(PreferencesError) -> (ReadablePairs, isShared: Bool) {
    defer { connection.close() }
    try PreferenceSchema.protect(connection)
    guard case .ready(let isShared) = try PreferenceSchema.check(connection) else {
      return (ReadablePairs(), false)
    }
    return (try contents(of: connection), isShared)
  }
}
