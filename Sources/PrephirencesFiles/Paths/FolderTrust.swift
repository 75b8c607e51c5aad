internal import SystemPackage

/// Whether others could exchange what lies in a folder.
struct FolderTrust {
  let path: String
  let owner: FileOwner

  /// Whether others can make files in it.
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

  /// Whether nobody else, root excepted, can reach what lies below.
  var isPrivate: Bool { mode & 0o011 == 0 && owner == .user }

  /// Fails if others could exchange what lies in the folder.
  ///
  /// An unmapped owner is root of the machine if the folder is one of the system's, and may be
  /// anybody if it is not.
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
