internal import Foundation
internal import PreferencesDurable
package import Prephirences
package import PrephirencesSystem
internal import SystemPackage

extension SharingConfiguration {
  private static let greatestSize = 65_536

  /// Returns the configuration of a suite; `nil` if it is not shared.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress`` if the file has
  ///   something unknown, and with ``PreferencesError/Code/insecure`` if it is not the user's own.
  package static func load(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> SharingConfiguration? {
    let path = try path(suiteName, environment)
    let real = try translated(TrustedPath(resolving: path)).path
    guard try translated(PrivateFile.inspect(real)) != nil else { return nil }
    let bytes: [UInt8]
    do throws(Errno) {
      let descriptor = try PrivateFile.open(real)
      defer { try? descriptor.close() }
      bytes = try DescriptorIO.read(descriptor, greatestSize + 1)
    } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw PreferencesError(.failed(error, "read", path))
    }
    guard bytes.count <= greatestSize else {
      throw PreferencesError(.invalidAddress, "the settings of sharing are too long: \(path)")
    }
    let configuration = try Self(json: Data(bytes), path: path)
    try configuration.check()
    return configuration
  }

  /// Writes the file, in one step, for the user alone.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidAddress`` if the
  ///   configuration cannot be used.
  package func save(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    try check()
    let path = try Self.path(suiteName, environment)
    let bytes: [UInt8]
    do {
      bytes = try [UInt8](json)
    } catch {
      throw PreferencesError(.invalidAddress, "the settings of sharing are not text: \(path)")
    }
    let folder = try Self.folder(environment)
    try translated(PrivateFile.makeFolder(folder))
    let real = try translated(TrustedPath(resolving: path)).path
    try translated(
      PrivateFile.replace(real) { descriptor throws(Errno) in
        try DescriptorIO.write(bytes, to: descriptor)
      })
  }

  /// Removes the file; it may be missing.
  package static func remove(
    suiteName: String, environment: EnvironmentVariables = .process
  ) throws(PreferencesError) {
    let path = try path(suiteName, environment)
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      guard (try? PrivateFile.look(path)) != .some(nil) else { return }
      throw PreferencesError(.inputOutput, "the file cannot be removed: \(path)")
    }
  }

  /// Returns the names of the suites that are shared, in the order of their bytes.
  package static func suiteNames(
    environment: EnvironmentVariables = .process
  ) throws(PreferencesError) -> [String] {
    let folder = try folder(environment)
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw PreferencesError(
        .inputOutput, "the folder \(folder) cannot be read; check its permissions")
    }
    return
      names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
      .map { String($0.dropLast(suffix.count)) }.filter { !$0.isEmpty }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the path of the file of a suite.
  ///
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidName`` or
  ///   ``PreferencesError/Code/noPlace``.
  package static func path(
    _ suiteName: String, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    // Checks the name, which is also that of a file here.
    _ = try DurablePreferences(suiteName: suiteName, folder: nil, environment: environment)
      .expectedPath()
    return try folder(environment) + "/" + suiteName + suffix
  }

  private static let suffix = ".json"

  private static func folder(
    _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    try translated(UserFolders("prephirences", environment: environment).configuration())
      + "/shared"
  }
}
