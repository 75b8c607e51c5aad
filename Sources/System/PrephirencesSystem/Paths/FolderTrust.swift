internal import SystemPackage

/// Whether others could replace what is in a folder.
struct FolderTrust {
  let path: String
  let owner: FileOwner

  /// Whether others can create files in it.
  let isOpen: Bool

  private let mode: CInterop.Mode
  private let ownership: FileOwnership

  init(_ stat: Stat, _ path: String, _ trusted: TrustedFolders) {
    self.path = path
    owner = FileOwner(stat, path)
    ownership = FileOwnership(stat)
    mode = stat.permissions.rawValue
    isOpen = trusted.othersBits(stat, path) & 0o022 != 0
  }

  /// Whether only the user and root can reach what is below.
  var isPrivate: Bool { mode & 0o011 == 0 && owner == .user }

  /// Fails if others could replace what is in the folder.
  ///
  /// An unmapped owner is root of the machine if the folder is a system folder; otherwise it may be
  /// anybody.
  func require() throws(FileError) {
    switch owner {
    case .user, .root: break
    case .unmapped:
      guard SystemFolders.contains(path) else {
        throw FileError(.insecure(.folderOfUnmapped), path)
      }
    case .other: throw FileError(.insecure(.folderOfOther(ownership)), path)
    }
    guard !isOpen || mode & 0o1000 != 0 else {
      throw FileError(.insecure(.folderOpenToOthers), path)
    }
  }
}
