internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem

/// The link of a helper in a folder.
struct HelperLink {
  /// What is at the path of a link.
  enum State: String, Encodable {
    /// Nothing.
    case missing

    /// A link to this program.
    case installed

    /// A link to where a program of this name was.
    case broken

    /// A file, or a link to something else.
    case foreign
  }

  let helper: HelperProgram
  let folder: String
  let host: InstalledHost

  var path: String { PathText.joined(folder, helper.linkName(of: host.name)) }

  /// What is there now.
  var state: State { state(of: path) }

  private func state(of path: String) -> State {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .missing }
    guard let target = PathText.target(ofLink: path) else { return .foreign }
    if let identity = FileIdentity(path) {
      return identity == host.identity ? .installed : .foreign
    }
    let names = [host.name, PathText.name(of: host.path)]
    let isOurs = names.contains { $0.hasSameBytes(as: PathText.name(of: target)) }
    return isOurs ? .broken : .foreign
  }

  /// Creates the link, or replaces a broken one.
  ///
  /// - Returns: `false` if it is there already.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if another file is there.
  func install() throws(KeychainError) -> Bool {
    // Somebody else may install or remove it at the same time.
    for _ in 0..<Self.attempts {
      switch state {
      case .installed: return false
      case .foreign: throw .foreignHelper(path)
      case .broken: try removeOwn()
      case .missing:
        if symlink(host.linkText(in: folder), path) == 0 { return true }
        guard errno == EEXIST else { throw .cannotWrite(path, errno: errno) }
      }
    }
    throw .foreignHelper(path)
  }

  private static let attempts = 100

  /// Removes the link.
  ///
  /// - Returns: `false` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/refused`` if another file is there.
  func remove() throws(KeychainError) -> Bool {
    switch state {
    case .missing: return false
    case .foreign: throw .foreignHelper(path)
    case .installed, .broken:
      try removeOwn()
      return true
    }
  }

  /// Removes our link, and no file that somebody puts into its place meanwhile: under a name of
  /// its own, what was taken stays what it is.
  private func removeOwn() throws(KeychainError) {
    let taken = "\(path).\(UInt64.random(in: .min ... .max)).old"
    guard rename(path, taken) == 0 else {
      guard errno == ENOENT else { throw .cannotWrite(path, errno: errno) }
      return
    }
    guard state(of: taken) == .foreign else {
      unlink(taken)
      return
    }
    // Back without replacing anything; only a folder cannot have a second name.
    if link(taken, path) == 0 {
      unlink(taken)
    } else if errno != EPERM || rename(taken, path) != 0 {
      throw .foreignHelper(taken)
    }
    throw .foreignHelper(path)
  }
}

extension KeychainError {
  static func foreignHelper(_ path: String) -> Self {
    Self(
      .refused, "'\(path)' is not a link to this program, and stays as it is",
      recovery: "remove it if nothing needs it, or choose another folder with --folder")
  }

  static let unprintableFolder = KeychainError(
    .invalidArgument, "the name of the folder has control characters",
    recovery: "choose another one with --folder")

  static let noFolderForLinks = KeychainError(
    .invalidArgument, "no folder for the links is known, as HOME is not set",
    recovery: "name one with --folder")
}
