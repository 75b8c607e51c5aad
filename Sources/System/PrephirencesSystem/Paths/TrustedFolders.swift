internal import Glibc
internal import SystemPackage

/// The folders that the user trusts regardless of owner and mode, from `KEYCHAIN_TRUSTED_FOLDERS`.
///
/// A container's volume belongs to root, and a group or everybody can write to it. A process in the
/// container cannot find out who is in that group: whoever starts a process sets its groups by
/// number, and no file need list them. So the user must say it.
struct TrustedFolders: Sendable {
  static let variable = "KEYCHAIN_TRUSTED_FOLDERS"

  private struct Folder {
    let path: String
    let group: UInt32
  }

  private let folders: [Folder]

  /// The folders that the environment names.
  ///
  /// If one of them is not UTF-8, none is trusted.
  static var current: Self { Self(try? EnvironmentVariables.process.value(variable)) }

  /// Creates a list from absolute paths separated by colons; others are ignored.
  init(_ text: String?) {
    folders = (text ?? "").split(separator: ":").compactMap { name in
      guard name.hasPrefix("/"), let real = unsafe realpath(String(name), nil) else { return nil }
      defer { unsafe free(real) }
      let path = unsafe String(cString: real)
      guard let stat = try? Stat(FilePath(path)), stat.type == .directory else { return nil }
      return Folder(path: path, group: stat.groupID.rawValue)
    }
  }

  /// Whether a folder is trusted.
  ///
  /// The path must be real.
  func contains(_ path: String) -> Bool { folders.contains { $0.path == path } }

  /// Returns the bits of a mode that apply to others.
  ///
  /// Below a trusted folder, the folder's group counts as the user's alone. Each time a pod starts,
  /// Kubernetes gives that group all files of a volume, with read and write permission.
  func othersBits(_ stat: Stat, _ path: String) -> CInterop.Mode {
    let mode = stat.permissions.rawValue
    let isOfGroup = folders.contains {
      $0.group == stat.groupID.rawValue && path.hasPrefix($0.path == "/" ? "/" : $0.path + "/")
    }
    return isOfGroup ? mode & 0o007 : mode & 0o077
  }

  /// Returns the setting that also trusts `path`.
  static func hint(_ path: String) -> String {
    let known = (try? EnvironmentVariables.process.value(variable)).map { $0 + ":" } ?? ""
    return "\(variable)='\(known)\(path)'"
  }
}
