internal import FoundationEssentials
internal import Glibc
public import PreferencesCore
package import PrephirencesSystem

/// Preferences in a file of their own, which several processes can use at the same time.
///
/// ```swift
/// let settings = DurablePreferences(suiteName: "com.example.server")
/// settings["port"] = 8080
/// ```
///
/// A value that was set is in the file when the call returns: it survives the end of the process.
/// It survives a power loss after `synchronize()`. The next read sees what other processes have
/// set. The values of a suite are in the file `SUITE.preferences` in the folder that
/// `XDG_CONFIG_HOME` names, or in `.config` in the home folder; reading creates no file. A new file
/// gets the values that `UserDefaults` has saved for the suite.
///
/// Values can be text, truth values, numbers, dates, data, URLs, UUIDs, `Decimal`, and arrays and
/// dictionaries of these. Keys are compared by their bytes. In a program that links
/// `Prephirences`, numbers are read as `NSNumber`, which casts to each type that holds them;
/// elsewhere they are numbers of Swift.
///
/// Methods that throw report each failure as ``PreferencesError``. For the others, read
/// ``lastError``, or call ``observeFailures(_:)``. It is safe to use from several threads.
public final class DurablePreferences: DurablePreferencesType, Sendable {
  /// The preferences of the program: the suite with the name of its executable.
  public static let standard = DurablePreferences(suiteName: ProcessInfo.processInfo.processName)

  /// The name of the suite.
  public let suiteName: String

  /// These preferences.
  public var durable: DurablePreferences { self }

  let failures = Failures()
  private let folder: String?
  private let environment: EnvironmentVariables
  private let isOnNetwork: Bool?
  private let timeout: Duration
  private let foundEngine = PosixMutex<Engine?>(nil)

  /// Creates preferences of a suite; the first use opens the file.
  ///
  /// - Parameter suiteName: The name of the suite, at most 200 bytes. If it is empty, begins with a
  ///   full stop or contains `/`, `..` or a zero byte, each call fails with
  ///   ``PreferencesError/Code/invalidName``.
  public convenience init(suiteName: String) {
    self.init(suiteName: suiteName, folder: nil, environment: .process)
  }

  /// Creates preferences of a suite in a folder, or in the user's configuration; the timeout must
  /// be less than a day.
  package init(
    suiteName: String, folder: String?, environment: EnvironmentVariables = .process,
    isOnNetwork: Bool? = nil, timeout: Duration = .seconds(10)
  ) {
    self.suiteName = suiteName
    self.folder = folder
    self.environment = environment
    self.isOnNetwork = isOnNetwork
    self.timeout = timeout
  }

  /// Opens the file now, or creates it if possible.
  ///
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/damaged`` also if the values that
  ///   `UserDefaults` has saved could not be imported.
  public func open() throws(PreferencesError) {
    try typed { try engine().open() }
  }

  /// Uses the file as it is from now on, although committed changes are missing.
  ///
  /// Use this after ``PreferencesError/Code/rolledBack``, if there is no copy to restore.
  ///
  /// - Returns: How many changes are missing.
  /// - Throws: ``PreferencesError``, with ``PreferencesError/Code/damaged`` if the file cannot be
  ///   read.
  @discardableResult
  public func acceptRestored() throws(PreferencesError) -> Int64 {
    try typed { try engine().acceptRestored() }
  }

  /// Where the file is, or will be.
  func suiteFile() throws(PreferencesError) -> SuiteFile { try engine().file }

  /// Returns the engine of the file; each call begins here, where the fork is checked.
  func engine() throws(PreferencesError) -> Engine {
    try ForkMark.preferences.check(PreferencesError.forked)
    if let engine = foundEngine.withLock({ $0 }) { return engine }
    let file = try SuiteFile(
      suiteName: suiteName, folder: folder, environment: environment, isOnNetwork: isOnNetwork,
      timeout: timeout)
    let engine = Engines.shared.engine(of: file)
    return foundEngine.withLock { found in
      found = found ?? engine
      return engine
    }
  }

  /// Performs a call, and converts its errors to one type.
  func typed<Result>(_ body: () throws -> Result) throws(PreferencesError) -> Result {
    do { return try body() } catch { throw .any(error) }
  }

  // MARK: - Failures

  /// The failure of the last call that does not throw, or of observing other processes since; `nil`
  /// if there was none.
  public var lastError: PreferencesError? { failures.last }

  /// Calls a closure with each failure of a call that does not throw, and if other processes can no
  /// longer be observed.
  ///
  /// - Parameter handler: Called on the thread of the call before it returns, or on a thread of its
  ///   own.
  /// - Returns: The observation; it ends when this object is destroyed.
  public func observeFailures(
    _ handler: @escaping @Sendable (PreferencesError) -> Void
  ) -> PreferenceObservation {
    failures.observe(handler)
  }

  /// Performs a call that does not throw, and records its failure.
  package func recorded<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      failures.clear()
      return result
    } catch {
      failures.record(.any(error))
      return nil
    }
  }

  /// The readable values; the first failure is recorded.
  var readablePairs: [(key: PreferenceKey, value: PreferenceValue)] {
    let found = recorded { try engine().fetchReadable() }
    if let failure = found?.unreadable.first?.failure { failures.record(failure) }
    return found?.pairs ?? []
  }

  /// Returns all keys with their values, including canonically equivalent keys.
  package func fetchPairs() throws(PreferencesError) -> [(PreferenceKey, PreferenceValue)] {
    try fetchReadablePairs().complete()
  }

  /// Returns all readable keys with their values, and why others cannot be read.
  package func fetchReadablePairs() throws(PreferencesError) -> ReadablePairs {
    try typed { try engine().fetchReadable() }
  }
}

/// Only the user can write the file, unless it is shared with other machines.
extension DurablePreferences: OwnValuePreferences {
  /// Returns the value of a key, or `nil` if there is none, or if the file is shared with other
  /// machines.
  ///
  /// Anyone who can write the shared store can set every value of such a file, in any machine's
  /// name.
  ///
  /// - Throws: ``PreferencesError``.
  public func fetchOwnObject(forKey key: PreferenceKey) throws -> PreferenceObject? {
    let value = try fetchObject(forKey: key)
    // Checked afterwards, so that sharing that begins meanwhile counts.
    return try typed { try engine().isShared() } ? nil : value
  }
}

// What `DurableUserDefaults` needs.

extension DurablePreferences: CastableNumberPreferences {}

extension DurablePreferences: ChangeReportingPreferences {
  package func observeChanges(_ handler: @escaping @Sendable () -> Void) -> PreferenceObservation {
    guard let engine = try? engine() else { return PreferenceObservation {} }
    let observation = engine.observers.signals.add(handler)
    do throws(PreferencesError) {
      try engine.watch.begin(engine, reportingTo: failures)
      // Changes from before the observation.
      try? engine.refresh()
    } catch {
      // The next read notices the changes of other processes.
      failures.record(error)
      return observation
    }
    return PreferenceObservation { [failures] in
      guard !ForkMark.preferences.isForked else { return }
      observation.cancel()
      engine.watch.end(reportingTo: failures)
    }
  }
}

// What commands need to know before they read or write.
extension DurablePreferences {
  /// Returns the names of the suites with a file, sorted by their bytes; empty without the folder.
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

  /// Returns the file with the values of the suite, which may be that of `UserDefaults`, or `nil`.
  package func storedPath() throws(PreferencesError) -> String? {
    let file = try suiteFile()
    if try file.inspect() != nil { return file.path }
    return unsafe access(file.propertyListPath, F_OK) == 0 ? file.propertyListPath : nil
  }

  /// Returns the file that the suite has or would have, without a check.
  package func expectedPath() throws(PreferencesError) -> String { try suiteFile().path }

  /// Copies the log into the database now, as a writer does when the log is long.
  @discardableResult
  package func checkpoint() throws(PreferencesError) -> Int {
    try typed { try engine().checkpoint() }
  }

  /// Leaves the logs as they are when the process ends, which then doesn't wait for the disk.
  package static func leaveLogs() { LogCopier.shared.leaveLogs() }

  private static func suiteName(ofFile name: String) -> String? {
    let suffix = [SuiteFile.suffix, ".plist"].first(where: name.hasSuffix)
    guard let suffix else { return nil }
    let suite = String(name.dropLast(suffix.count))
    return (try? SuiteFile.check(suite)) == nil ? nil : suite
  }
}

extension PreferencesError {
  static func any(_ error: any Error) -> Self {
    error as? Self ?? Self(.inputOutput, "the preferences failed: \(type(of: error))")
  }
}
