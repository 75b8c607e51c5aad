package import SystemPackage

/// Why a private file cannot be used.
///
/// Callers translate it to the error of their own library; ``message`` and ``advice`` are words for a person
/// that hold of any file.
package struct FileError: Error, Hashable, Sendable {
  package let kind: Kind

  /// The file or folder, or what people call another source or target of bytes.
  package let path: String

  package init(_ kind: Kind, _ path: String) {
    self.kind = kind
    self.path = path
  }

  /// What is the matter.
  package enum Kind: Hashable, Sendable {
    /// A system call failed; the action is a verb in the infinitive, which `path` follows.
    case failed(action: String, Errno)

    /// Something has the name of a file that is to be new.
    case alreadyExists

    /// Another process held a lock until the deadline.
    case timedOut

    /// The path is empty, or has a zero byte in it.
    case invalidPath

    /// No folder is known in which the file could be; `path` is empty.
    case noPlace(reason: String)

    /// Others could read, change or exchange the file.
    case insecure(Insecurity)
  }

  /// Why a file or folder is not taken for the user's own.
  package enum Insecurity: Hashable, Sendable {
    /// A file that is no regular one.
    case notRegular

    /// A symbolic link that another user made.
    case linkOfOther

    /// A file of a user without a number in this user namespace.
    case fileOfUnmapped
    case fileOfOther(FileOwnership)

    /// A file that others can read or change; `mayBeRoots` is true for one that may belong to root.
    case fileOpenToOthers(FileOwnership, mode: CInterop.Mode, mayBeRoots: Bool)

    /// A folder of a user without a number in this user namespace.
    case folderOfUnmapped
    case folderOfOther(FileOwnership)

    /// A folder in which others can make, rename and remove files.
    case folderOpenToOthers
  }

  /// A failed system call.
  package static func failed(_ error: Errno, _ action: String, _ path: String) -> Self {
    Self(.failed(action: action, error), path)
  }

  /// The error of the system call behind the failure, if there is one.
  package var systemError: Errno? {
    if case .failed(_, let error) = kind { error } else { nil }
  }

  /// Whether a system call failed with one of these errors.
  package func isSystemError(_ errors: [Errno]) -> Bool {
    systemError.map(errors.contains) ?? false
  }
}

/// The numbers of a file's user and group.
package struct FileOwnership: Hashable, Sendable {
  package let user: UInt32
  package let group: UInt32

  init(_ stat: Stat) {
    user = stat.userID.rawValue
    group = stat.groupID.rawValue
  }
}
