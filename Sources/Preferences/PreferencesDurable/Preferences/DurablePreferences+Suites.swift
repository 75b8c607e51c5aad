internal import Glibc
package import Prephirences
package import PrephirencesSystem

// What commands need to know before they read or write.
extension DurablePreferences {
  /// Returns the names of the suites that have a file, in the order of their bytes.
  ///
  /// - Parameter environment: The variables that name the folder.
  /// - Returns: The names; none if the folder does not exist.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/noPlace``,
  ///   ``PreferencesError/Code/insecure`` or ``PreferencesError/Code/inputOutput``.
  package static func storedSuiteNames(
    _ environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> [String] {
    let any = DurablePreferences(suiteName: "any", folder: nil, environment: environment)
    let folder = try any.suiteFile().folder
    guard let entries = unsafe opendir(folder) else {
      guard errno != ENOENT else { return [] }
      throw PreferencesError(
        .inputOutput, "the folder \(folder) cannot be read; check its permissions",
        systemCode: errno)
    }
    defer { unsafe closedir(entries) }
    var names: Set<[UInt8]> = []
    while let entry = unsafe readdir(entries) {
      let file = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let name = file.flatMap(suiteName(ofFile:)) { names.insert(Array(name.utf8)) }
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Returns the file with the values of the suite: its own, or else that of `UserDefaults`.
  ///
  /// - Returns: The path; `nil` if there is neither.
  /// - Throws: ``PreferencesError``, also with ``PreferencesError/Code/invalidName``.
  package func storedPath() throws(PreferencesError) -> String? {
    let file = try suiteFile()
    if try file.inspect() != nil { return file.path }
    return unsafe access(file.propertyListPath, F_OK) == 0 ? file.propertyListPath : nil
  }

  /// Returns the file that the suite has, or would have, without looking at it.
  ///
  /// - Returns: The path.
  /// - Throws: ``PreferencesError``, if there is no place for it.
  package func expectedPath() throws(PreferencesError) -> String { try suiteFile().path }

  private static func suiteName(ofFile name: String) -> String? {
    let suffix = [SuiteFile.suffix, ".plist"].first(where: name.hasSuffix)
    guard let suffix else { return nil }
    let suite = String(name.dropLast(suffix.count))
    return (try? SuiteFile.check(suite)) == nil ? nil : suite
  }
}
