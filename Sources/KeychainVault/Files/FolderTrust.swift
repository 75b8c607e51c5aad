internal import KeychainCredentials
internal import SystemPackage

/// Whether others could exchange what lies in a folder.
struct FolderTrust {
  let path: String
  let owner: FileOwner

  /// Whether others can make files in it.
  let isOpen: Bool

  private let mode: CInterop.Mode

  /// What root does where the folder belongs to somebody else.
  private let hintForRoot: KeychainError.Recovery?

  init(_ stat: Stat, _ path: String, _ trusted: TrustedFolders) {
    self.path = path
    owner = FileOwner(stat, path)
    mode = stat.permissions.rawValue
    hintForRoot = owner == .other ? OwnerCommand.hint(stat).map { .advice($0) } : nil
    isOpen = trusted.othersBits(stat, path) & 0o022 != 0
  }

  /// Whether nobody else, root excepted, can reach what lies below.
  var isPrivate: Bool { mode & 0o011 == 0 && owner == .user }

  /// Fails if others could exchange what lies in the folder.
  ///
  /// An unmapped owner is root of the machine if the folder is one of the system's, and may be
  /// anybody if it is not.
  func require() throws(KeychainError) {
    switch owner {
    case .user, .root: break
    case .unmapped: guard SystemFolders.contains(path) else { throw ofUnmapped }
    case .other: throw ofOther
    }
    guard !isOpen || mode & 0o1000 != 0 else { throw openToOthers }
  }

  private var ofUnmapped: KeychainError {
    KeychainError(
      .insecurePermissions,
      "the folder \(path) belongs to a user outside of this user namespace, who cannot be told from "
        + "others and could replace what lies in it",
      recovery:
        "use a folder of your own in your home or below /var/lib; or, if you know that it is "
        + "root's or yours: \(TrustedFolders.hint(path))")
  }

  private var ofOther: KeychainError {
    KeychainError(
      .insecurePermissions,
      "the folder \(path) belongs to another user, who could replace what lies in it",
      recovery: hintForRoot
        ?? "use a folder of your own; or, if nobody but you uses it, as on a container's own "
        + "volume: \(TrustedFolders.hint(path))")
  }

  private var openToOthers: KeychainError {
    KeychainError(
      .insecurePermissions, "other users can write to the folder \(path)",
      recovery: "chmod go-w '\(path)'; or, if nobody but you can, as on a container's own volume: "
        + .advice(TrustedFolders.hint(path)))
  }
}
