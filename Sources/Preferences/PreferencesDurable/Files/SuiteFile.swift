internal import Glibc
internal import Prephirences
internal import PrephirencesSystem
internal import SystemPackage

/// Where the preferences of a suite are.
struct SuiteFile: Hashable, Sendable {
  static let suffix = ".preferences"

  /// The real path of the folder; it may not exist.
  let folder: String
  let suiteName: String

  /// Whether the file system is on the network, where processes share no memory.
  let isOnNetwork: Bool

  /// How long a call waits for others.
  let patience: Duration

  // By bytes, as the file system does: two names that are equal as text, such as a composed and a
  // decomposed letter, are two files.
  static func == (one: SuiteFile, other: SuiteFile) -> Bool {
    one.path.utf8.elementsEqual(other.path.utf8) && one.isOnNetwork == other.isOnNetwork
      && one.patience == other.patience
  }

  func hash(into hasher: inout Hasher) { hasher.combine(Array(path.utf8)) }

  var path: String { folder + "/" + suiteName + Self.suffix }
  var lockPath: String { path + "-lock" }
  var logPath: String { path + "-wal" }
  var sharedMemoryPath: String { path + "-shm" }
  var journalPath: String { path + "-journal" }

  /// The file of `UserDefaults` for the same suite.
  var propertyListPath: String { folder + "/" + suiteName + ".plist" }

  /// Finds the file of a suite.
  ///
  /// - Parameters:
  ///   - suiteName: The name of the suite.
  ///   - folder: The folder; `nil` for the user's configuration.
  ///   - environment: The variables that name the folder.
  ///   - isOnNetwork: What kind of file system it is; `nil` to find out.
  ///   - patience: How long a call waits for others; less than a day.
  /// - Throws: ``PreferencesError`` with ``PreferencesError/Code/invalidName``,
  ///   ``PreferencesError/Code/noPlace`` or ``PreferencesError/Code/insecure``.
  init(
    suiteName: String, folder: String?, environment: EnvironmentVariables, isOnNetwork: Bool?,
    patience: Duration = .seconds(10)
  ) throws(PreferencesError) {
    try Self.check(suiteName)
    let trusted = try Self.folder(folder, environment)
    self.folder = trusted
    self.suiteName = suiteName
    self.patience = patience
    self.isOnNetwork = isOnNetwork ?? FileSystemKind(of: trusted).isNetwork
  }

  /// Returns the real path of the folder of all suites.
  static func folder(
    _ folder: String?, _ environment: EnvironmentVariables
  ) throws(PreferencesError) -> String {
    let named: String
    if let folder {
      named = folder
    } else {
      named = try translated(UserFolders.configurationBase(environment))
    }
    return try translated(TrustedPath(resolving: named)).path
  }

  /// Checks the name of a suite, which is the name of a file.
  static func check(_ name: String) throws(PreferencesError) {
    let reason: String? =
      if name.isEmpty {
        "it is empty"
      } else if name.utf8.count > 200 {
        "it is longer than 200 bytes"
      } else if name.utf8.contains(0) {
        "it has a zero byte"
      } else if name.utf8.contains(UInt8(ascii: "/")) {
        "it has a slash"
      } else if name.utf8.first == UInt8(ascii: ".") {
        "it begins with a full stop"
      } else if name.contains("..") {
        "it has two full stops in a row"
      } else {
        nil
      }
    guard let reason else { return }
    throw PreferencesError(
      .invalidName, "a suite of preferences cannot have this name, because \(reason)")
  }

  /// What is at the path of the database, checked; `nil` if nothing is.
  func inspect() throws(PreferencesError) -> Stat? { try translated(PrivateFile.inspect(path)) }

  /// Returns the files that are at the paths of the log and of its index now.
  func logFiles() throws(PreferencesError) -> Set<FileIdentity> {
    var found: Set<FileIdentity> = []
    for path in [logPath, sharedMemoryPath] {
      if let stat = try translated(PrivateFile.look(path)) { found.insert(stat.identity) }
    }
    return found
  }

  /// Whether this process may change the file, or create it.
  var isWritable: Bool {
    guard unsafe access(folder, W_OK) == 0 || errno == ENOENT else { return false }
    return unsafe access(path, W_OK) == 0 || errno == ENOENT
  }

  /// Checks the files that SQLite keeps next to the database, and trusts.
  func checkSidecars() throws(PreferencesError) {
    for path in [logPath, sharedMemoryPath, journalPath] {
      guard let stat = try translated(PrivateFile.inspect(path)) else { continue }
      // SQLite would write into the file under its other name, too.
      guard stat.linkCount == 1 || stat.size == 0 else {
        throw PreferencesError(
          .insecure, "\(path), which belongs to the preferences, has a second name; move it away")
      }
    }
    let namesOther: Bool
    do throws(Errno) {
      namesOther = try SQLiteJournal.namesOtherFile(journalPath)
    } catch {
      throw PreferencesError(.failed(error, "read", journalPath))
    }
    guard !namesOther else {
      throw PreferencesError(
        .damaged, "\(journalPath) names another file, which would be deleted; move it away")
    }
  }
}
