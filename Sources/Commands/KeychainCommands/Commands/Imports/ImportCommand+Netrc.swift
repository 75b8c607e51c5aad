internal import Glibc
internal import KeychainCredentials
internal import KeychainHelpers
internal import KeychainSecrets
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem
internal import SystemPackage

extension ImportCommand {
  /// Imports the passwords of a netrc file, and removes them from it if the person agrees.
  func importNetrc(in session: Session) throws {
    if isFromInput {
      guard !session.console.input.isTerminal else { throw KeychainError.netrcFromTerminal }
      guard !session.console.input.wasClosed else {
        throw CommandLineError.inputClosed(NetrcImportText.onInput)
      }
      let text = try SecretBytes.readingNetrc(
        session.console.input.descriptor, named: "standard input", by: session.asking.deadline)
      let report = try store(text, in: session)
      return try write(report, removedCount: 0, session.output)
    }
    guard let path = file ?? NetrcPlaces(session.environment).usual else {
      throw KeychainError.noNetrc
    }
    if let text = try pipedNetrc(path, in: session) {
      return try write(try store(text, in: session), removedCount: 0, session.output)
    }
    let source = try NetrcSource(path)
    if source.isOpenToOthers {
      session.interface.say(NetrcImportText.isOpenToOthers(source.path))
      session.interface.hint(NetrcImportText.close(source.path))
    }
    let report = try store(source.text.copy(), in: session)
    let removedCount: Int
    do {
      removedCount = try removeStored(report, from: source, in: session)
    } catch {
      // The passwords stay stored after a failure.
      if (error as? KeychainError)?.code != .cancelled {
        session.interface.say(NetrcImportText.mayStay(path))
      }
      try write(report, removedCount: 0, session.output)
      throw error
    }
    try write(report, removedCount: removedCount, session.output)
  }

  /// Reads a pipe such as a shell's `<(command)`, or returns `nil` for another file.
  private func pipedNetrc(_ path: String, in session: Session) throws -> SecretBytes? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return nil }
    guard !remove else { throw KeychainError.netrcIsNoFile(path) }
    let deadline = session.asking.deadline
    let descriptor = try WaitingFile.open(path, within: deadline?.left) {
      .cannotOpen(path, errno: $0)
    }
    defer { close(descriptor) }
    return try SecretBytes.readingNetrc(descriptor, named: path, by: deadline)
  }

  /// Stores the entries of a netrc file, except in a dry run, and reports them.
  private func store(_ text: consuming SecretBytes, in session: Session) throws -> NetrcImport {
    let report = try NetrcImport(text, into: session.store, overwriting: overwrite)
    if !dryRun { try perform(report, in: session) }
    let interface = session.interface
    if dryRun || !overwrite {
      for item in report.items(.differing) {
        interface.say(ExportText.differs(item.identity, isOverwriting: overwrite, isDryRun: dryRun))
      }
    }
    for obstacle in NetrcImportPlan.Obstacle.allCases {
      let entries = report.plan.left.filter { $0.obstacle == obstacle }.map(\.entry)
      if !entries.isEmpty { interface.say(NetrcImportText.left(obstacle, entries)) }
    }
    for host in report.plan.repeatedHosts { interface.say(NetrcImportText.repeated(host)) }
    interface.say(NetrcImportText.summary(report, isDryRun: dryRun))
    if !overwrite, !report.items(.differing).isEmpty {
      interface.hint(ExportText.overwriteToReplace)
    }
    return report
  }

  /// Stores everything or nothing in the vault, or one by one in the desktop keyring.
  private func perform(_ report: borrowing NetrcImport, in session: Session) throws {
    guard let stores = session.builtIn else { return try report.perform() }
    for item in report.changed where try stores.decision(for: item.identity).place != .vault {
      return try report.perform()
    }
    guard !report.changed.isEmpty else { return }
    do {
      try stores.vault.withTransaction { transaction in
        try report.forEachChange { identity, update, password throws(KeychainError) in
          try transaction.merge(update, secret: password, into: identity)
        }
      }
    } catch {
      throw error as? KeychainError
        ?? KeychainError(.internalFailure, "the import failed: \(error)")
    }
  }

  /// Reads stored entries back, and then removes them from the file.
  ///
  /// Returns how many entries were removed, or would be.
  private func removeStored(
    _ report: borrowing NetrcImport, from source: borrowing NetrcSource, in session: Session
  ) throws -> Int {
    let interface = session.interface
    guard !dryRun else {
      if remove { try source.requireReplaceable() }
      let items =
        report.items(.absent) + report.items(.same)
        + (overwrite ? report.items(.differing) : [])
      let count = items.reduce(0) { $0 + $1.entries.count }
      if remove, count > 0 { interface.say(NetrcImportText.wouldRemove(count, source.path)) }
      return remove ? count : 0
    }
    let entries = try report.storedEntries()
    guard !entries.isEmpty else { return 0 }
    guard try agreesToRemoving(entries.count, from: source.path, session) else {
      interface.say(NetrcImportText.stays(entries.count, source.path))
      if !keep, !stores.sessionOnly, session.prompt == nil {
        interface.hint(NetrcImportText.removeThem)
      }
      return 0
    }
    let isGone = try source.replace(by: try report.file.text(without: entries))
    interface.say(NetrcImportText.removed(entries.count, source.path, isFileRemoved: isGone))
    return entries.count
  }

  private func agreesToRemoving(
    _ count: Int, from path: String, _ session: Session
  ) throws -> Bool {
    // Otherwise the passwords would be lost after the logout.
    if remove || keep || stores.sessionOnly { return remove }
    do {
      return try session.prompt?.confirm(NetrcImportText.question(count, path)) ?? false
    } catch {
      throw error.code == .cancelled ? .netrcStaysCancelled(path) : error
    }
  }

  private func write(
    _ report: borrowing NetrcImport, removedCount: Int, _ output: CommandOutput
  ) throws {
    guard json else { return }
    try output.write(json: report.json(isDryRun: dryRun, removedCount: removedCount))
  }
}

extension KeychainError {
  static let noNetrc = KeychainError(
    .notFound, "there is no .netrc in the home folder", recovery: "name the file")

  static let netrcFromTerminal = KeychainError(
    .refused, "a netrc file is not read from a terminal",
    recovery: "name a file, or redirect one to standard input")
}

/// A netrc file on disk, as it was when it was read.
struct NetrcSource: ~Copyable {
  let path: String

  let text: SecretBytes

  /// The path of the file after following links.
  private let file: String

  private let status: Stat

  init(_ path: String) throws {
    guard let resolved = realpath(path, nil) else {
      throw KeychainError.cannotOpen(path, errno: errno)
    }
    defer { free(resolved) }
    let descriptor = open(resolved, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw KeychainError.cannotOpen(path, errno: errno) }
    defer { close(descriptor) }
    let status: Stat
    do { status = try Stat(FileDescriptor(rawValue: descriptor)) } catch {
      throw KeychainError.cannotOpen(path, errno: EIO)
    }
    guard status.type == .regular else { throw KeychainError.netrcIsNoFile(path) }
    let text = try SecretBytes.readingNetrc(descriptor, named: path, by: nil)
    self = Self(path: path, text: text, file: String(cString: resolved), status: status)
  }

  private init(path: String, text: consuming SecretBytes, file: String, status: Stat) {
    self.path = path
    self.text = text
    self.file = file
    self.status = status
  }

  var isOpenToOthers: Bool { status.permissions.rawValue & 0o077 != 0 }

  /// Replaces the file with its remaining entries, unless another program has changed it.
  ///
  /// Returns whether the file was removed.
  borrowing func replace(by rest: borrowing SecretBytes) throws -> Bool {
    try requireReplaceable()
    try requireUnchanged()
    let isLink = try PrivateFile.look(path)?.type == .symbolicLink
    if rest.isBlank, !isLink {
      guard unlink(file) == 0 else { throw KeychainError.cannotWrite(path, errno: errno) }
      return true
    }
    // Where the file system has no modes, it stays as open as it was.
    let replacement = try UnfinishedFile(
      for: file, openTo: status.permissions.rawValue & PrivateFile.everybody)
    try replacement.write { descriptor throws(Errno) in try rest.write(to: descriptor) }
    try replacement.sync()
    // Checked again, because writing may take long.
    try requireUnchanged()
    try replacement.replaceOld()
    return false
  }

  /// Checks that replacing the file loses nothing.
  borrowing func requireReplaceable() throws {
    guard status.userID.rawValue == geteuid() else { throw KeychainError.netrcOfOther(path) }
    guard status.linkCount == 1 else { throw KeychainError.netrcHasOtherNames(path) }
  }

  private borrowing func requireUnchanged() throws {
    let now = try NetrcSource(path)
    guard now.status.identity == status.identity, now.text.isEqual(to: text) else {
      throw KeychainError.netrcChanged(path)
    }
  }
}

extension SecretBytes {
  static func readingNetrc(
    _ descriptor: Int32, named name: String, by deadline: Deadline?
  ) throws -> SecretBytes {
    guard
      let text = try reading(descriptor, named: name, limit: NetrcFile.maximumCount, by: deadline)
    else { throw KeychainError.netrcTooLarge(name) }
    return text
  }

  fileprivate var isBlank: Bool {
    withBytes { bytes in
      (0..<bytes.byteCount).allSatisfy { index in
        bytes.byte(at: index) == UInt8(ascii: " ") || (0x09...0x0D).contains(bytes.byte(at: index))
      }
    }
  }
}

/// Where programs look for a netrc file.
struct NetrcPlaces {
  private let environment: EnvironmentVariables

  init(_ environment: EnvironmentVariables) { self.environment = environment }

  /// The `.netrc` file in `HOME`, or else in the account's home folder; `nil` if there is none.
  var usual: String? {
    (environment.text("HOME") ?? Self.accountFolder).flatMap(Self.netrc)
  }

  /// All netrc files that programs read: SwiftPM ignores `HOME` and reads the one in the account's
  /// home folder, and others read the file in `NETRC`.
  var all: [String] {
    let named = environment.text("NETRC").flatMap { access($0, F_OK) == 0 ? $0 : nil }
    var paths: [String] = []
    for path in [usual, Self.accountFolder.flatMap(Self.netrc), named].compactMap(\.self)
    where !paths.contains(path) {
      paths.append(path)
    }
    return paths
  }

  /// The files that other users can read.
  var openToOthers: [String] {
    all.filter { path in
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & 0o077 != 0
    }
  }

  private static func netrc(in folder: String) -> String? {
    let path = folder.hasSuffix("/") ? folder + ".netrc" : folder + "/.netrc"
    return access(path, F_OK) == 0 ? path : nil
  }

  private static var accountFolder: String? {
    guard let entry = getpwuid(geteuid()), let folder = entry.pointee.pw_dir else { return nil }
    return String(validatingCString: folder)
  }
}
