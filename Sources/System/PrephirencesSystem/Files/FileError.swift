internal import Glibc
package import SystemPackage

/// Why a private file cannot be used.
///
/// Callers translate it into their own library's error. ``message`` and ``advice`` are texts for a
/// person that fit any file.
package struct FileError: Error, Hashable, Sendable {
  package let kind: Kind

  /// The file or folder, or the name of another source or target.
  package let path: String

  package init(_ kind: Kind, _ path: String) {
    self.kind = kind
    self.path = path
  }

  /// The kinds of failure.
  package enum Kind: Hashable, Sendable {
    /// A system call failed. The action is an infinitive verb, followed by `path`.
    case failed(action: String, Errno)

    /// The file has its new name and contents, but a power failure may undo that: its folder could
    /// not be synced.
    case unsynced(Errno)

    /// A new file cannot be created because its name is taken.
    case alreadyExists

    /// Another process held a lock until the deadline.
    case timedOut

    /// The input, which `path` names, did not end before the deadline.
    case endless

    /// The path is empty or contains a zero byte.
    case invalidPath

    /// A path is not UTF-8; `path` names its source, such as a variable.
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

    /// The file system gives new files a mode that lets others use them.
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

package struct FileOwnership: Hashable, Sendable {
  package let user: UInt32
  package let group: UInt32

  init(_ stat: Stat) {
    user = stat.userID.rawValue
    group = stat.groupID.rawValue
  }
}

extension FileError: CustomStringConvertible {
  /// The message, followed by the advice if there is any.
  package var description: String { advice.map { "\(message) (\($0))" } ?? message }

  /// What failed, without a capital and without a full stop.
  package var message: String {
    switch kind {
    case .failed(let action, let error): "cannot \(action) \(path): \(error.words)"
    case .unsynced(let error):
      "\(path) is written, and may be lost with the power: cannot sync its folder: \(error.words)"
    case .alreadyExists: "\(path) exists already"
    case .timedOut: "another process held \(path) for too long"
    case .endless: "\(path) did not end in time"
    case .invalidPath: "a path is empty or holds a zero byte"
    case .notText: "\(path) is not valid UTF-8, which every name and path must be"
    case .noPlace(let reason): "there is no place for the file: \(reason)"
    case .insecure(let insecurity): insecurity.message(path)
    }
  }

  /// What a person can do about it, with commands of the system; `nil` if nothing.
  package var advice: String? {
    switch kind {
    case .failed(_, .noSpace): "free some space, and try again"
    case .failed(_, .readOnlyFileSystem): "the medium is read-only"
    case .failed(_, .permissionDenied):
      "check the permissions of " + (isClosed ? path : "its folders")
    case .failed, .invalidPath, .noPlace: nil
    case .unsynced: "look at it before you repeat the change"
    case .notText: "write it in UTF-8; if it is a path, rename the folder or file first"
    case .alreadyExists: "name a new file"
    case .timedOut: "try again"
    case .endless: "end it, or wait longer"
    case .insecure(let insecurity): insecurity.advice(path)
    }
  }
}

extension FileError {
  /// Whether this process may not use the file itself, as opposed to a folder above it.
  private var isClosed: Bool {
    unsafe access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0
  }
}

extension FileError.Insecurity {
  fileprivate func message(_ path: String) -> String {
    switch self {
    case .notRegular: "\(path) is not a regular file"
    case .linkOfOther: "\(path) is a symbolic link made by another user"
    case .fileOfUnmapped:
      "\(path) belongs to a user outside of this user namespace, who could be anybody"
    case .fileOfOther(let owner): "\(path) belongs to another user (number \(owner.user))"
    case .fileOpenToOthers(_, let mode, let mayBeRoots):
      mayBeRoots && mode & 0o022 == 0
        ? "other users can read \(path)" : "other users can read or write \(path)"
    case .mediumWithoutModes(let mode):
      "other users can \(mode & 0o022 == 0 ? "read" : "read and write") \(path) there: "
        + "its file system has no permissions for single files"
    case .folderOfUnmapped:
      "the folder \(path) belongs to a user outside of this user namespace, who could be anybody "
        + "and could replace its contents"
    case .folderOfOther:
      "the folder \(path) belongs to another user, who could replace its contents"
    case .folderOpenToOthers: "other users can write to the folder \(path)"
    }
  }

  fileprivate func advice(_ path: String) -> String {
    switch self {
    case .notRegular: "name a file, not a link, folder, pipe or device"
    case .linkOfOther: "name the real path, or remove the link"
    case .fileOfUnmapped:
      "use a file of your own; a systemd user service gets one by LoadCredential="
    case .fileOfOther(let owner):
      OwnerCommand.hint(owner)
        ?? "run as that user, or: chown \(geteuid()) \(ShellText.quoted(path))"
    case .fileOpenToOthers(let owner, _, let mayBeRoots):
      // If root's file were closed to all others, this user could not read it.
      mayBeRoots && owner.user != geteuid()
        ? "have it belong to user \(geteuid()), with mode 400"
        : "to keep it to yourself: chmod 600 \(ShellText.quoted(path)); if others may have read "
          + "it, change what it protects"
    case .mediumWithoutModes:
      "write it elsewhere, or mount the medium for yourself alone, with the option umask=077"
    case .folderOfUnmapped:
      "use a folder of your own in your home or below /var/lib; or, if you know that it is "
        + "root's or yours: \(TrustedFolders.hint(path))"
    case .folderOfOther(let owner):
      OwnerCommand.hint(owner)
        ?? "use a folder of your own; or, if nobody but you uses it, as on a container's own "
        + "volume: \(TrustedFolders.hint(path))"
    case .folderOpenToOthers:
      "chmod go-w \(ShellText.quoted(path)); or, if nobody but you can, as on a container's own "
        + "volume: "
        + TrustedFolders.hint(path)
    }
  }
}

/// Makes a system call; its error names the file and, in the infinitive, what was to be done.
package func onFile<Result: ~Copyable>(
  _ path: String, _ action: String, _ call: @autoclosure () throws(Errno) -> Result
) throws(FileError) -> Result {
  do { return try call() } catch { throw .failed(error, action, path) }
}
