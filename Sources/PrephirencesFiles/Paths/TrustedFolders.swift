internal import Glibc
internal import SystemPackage

/// The folders that the user trusts whoever owns or can change them, by `KEYCHAIN_TRUSTED_FOLDERS`.
///
/// A volume of a container belongs to root, and a group or everybody can write to it. Who is in that group
/// cannot be found out from inside: processes get their groups from whoever starts them, by number, and no
/// file need name them. So it must be said.
struct TrustedFolders: Sendable {
  static let variable = "KEYCHAIN_TRUSTED_FOLDERS"

  private struct Folder {
    let path: String
    let group: UInt32
  }

  private let folders: [Folder]

  /// Those that the environment names.
  static var current: Self { Self(EnvironmentVariables.process.value(variable)) }

  /// Takes absolute paths, with colons between them; others are ignored.
  init(_ text: String?) {
    folders = (text ?? "").split(separator: ":").compactMap { name in
      guard name.hasPrefix("/"), let real = unsafe realpath(String(name), nil) else { return nil }
      defer { unsafe free(real) }
      let path = unsafe String(cString: real)
      guard let stat = try? Stat(FilePath(path)), stat.type == .directory else { return nil }
      return Folder(path: path, group: stat.groupID.rawValue)
    }
  }

  /// Whether a folder is one of them; the path is a real one.
  func contains(_ path: String) -> Bool { folders.contains { $0.path == path } }

  /// The bits of a mode that say what others may do.
  ///
  /// Below a trusted folder its group is the user's alone. Kubernetes gives that group all the files of a
  /// volume, and lets it read and write them, each time a pod starts.
  func othersBits(_ stat: Stat, _ path: String) -> CInterop.Mode {
    let mode = stat.permissions.rawValue
    let isOfGroup = folders.contains {
      $0.group == stat.groupID.rawValue && path.hasPrefix($0.path == "/" ? "/" : $0.path + "/")
    }
    return isOfGroup ? mode & 0o007 : mode & 0o077
  }

  /// How to trust one more folder.
  static func hint(_ path: String) -> String {
    let known = EnvironmentVariables.process.value(variable).map { $0 + ":" } ?? ""
    return "\(variable)='\(known)\(path)'"
  }
}
