package import SystemPackage

/// Why a private file cannot be used.
///
/// Callers translate it into their own library's error. ``message`` and ``advice`` are texts for a
/// person that fit any file.
package struct FileError: Error, Hashable, Sendable {
  package let kind: Kind

  /// The file or folder, or the name of another source or target of bytes.
  package let path: String

  package init(_ kind: Kind, _ path: String) {
    self.kind = kind
    self.path = path
  }

  /// The kinds of failure.
  package enum Kind: Hashable, Sendable {
    /// A system call failed. The action is an infinitive verb, followed by `path`.
    case failed(action: String, Errno)

    /// The file has its new name and contents, and may lose them with the power, because its folder
    /// could not be synced.
    case unsynced(Errno)

    /// A new file cannot be created because its name is taken.
    case alreadyExists

    /// Another process held a lock until the deadline.
    case timedOut

    /// The input did not end before a deadline; `path` names it.
    case endless

    /// The path is empty or contains a zero byte.
    case invalidPath

    /// A path is not UTF-8; `path` names where it comes from, such as a variable.
    case notText

    /// No folder is known for the file; `path` is empty.
    case noPlace(reason: String)

    /// Others could read, change or replace the file.
    case insecure(Insecurity)
  }

  /// Why a file or folder does not count as the user's own.
  package enum Insecurity: Hashable, Sendable {
    /// It is not a regular file.
    case notRegular

    /// Another user made the symbolic link.
    case linkOfOther

    /// The file belongs to a user without a number in this user namespace.
    case fileOfUnmapped
    case fileOfOther(FileOwnership)

    /// Others can read or change the file; `mayBeRoots` is `true` if the file may belong to root.
    case fileOpenToOthers(FileOwnership, mode: CInterop.Mode, mayBeRoots: Bool)

    /// The file system gives a new file a mode that lets others use it.
    case mediumWithoutModes(CInterop.Mode)

    /// The folder belongs to a user without a number in this user namespace.
    case folderOfUnmapped
    case folderOfOther(FileOwnership)

    /// Others can create, rename and remove files in the folder.
    case folderOpenToOthers
  }

  /// Returns the error of a failed system call.
  package static func failed(_ error: Errno, _ action: String, _ path: String) -> Self {
    Self(.failed(action: action, error), path)
  }

  /// The system error behind the failure; `nil` if there is none.
  package var systemError: Errno? {
    switch kind {
    case .failed(_, let error), .unsynced(let error): error
    default: nil
    }
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
