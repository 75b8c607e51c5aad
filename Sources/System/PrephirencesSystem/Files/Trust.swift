internal import Glibc
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

/// The owner of a file or folder.
enum FileOwner {
  case user
  case root

  /// A user outside of this process's user namespace: root of the machine, or any other user.
  case unmapped

  case other

  /// Finds the owner of what is at a path.
  ///
  /// For a symbolic link, the user cannot be found with certainty.
  init(_ stat: Stat, _ path: String) {
    let number = stat.userID.rawValue
    if UserNamespace.hidesOwner(number) {
      self = Self.isCertainlyUser(stat, path) ? .user : .unmapped
    } else if number == geteuid() {
      self = .user
    } else {
      self = number == 0 ? .root : .other
    }
  }

  var isTrusted: Bool { self == .user || self == .root }

  /// In a namespace without any numbers, the user's own files look like everybody's.
  ///
  /// If the mode permits only the owner, and the kernel permits this process, then this process is
  /// the owner: the kernel checks the real owner, and capabilities don't count for files of
  /// unmapped owners.
  private static func isCertainlyUser(_ stat: Stat, _ path: String) -> Bool {
    guard stat.userID.rawValue == geteuid(), getuid() == geteuid(),
      stat.type == .regular || stat.type == .directory
    else { return false }
    let mode = stat.permissions.rawValue
    let may = { (how: CInt) in unsafe access(path, how) == 0 }
    return (mode & 0o022 == 0 && may(W_OK)) || (mode & 0o044 == 0 && may(R_OK))
  }
}

/// What a user namespace hides about the owners of files; see user_namespaces(7).
///
/// systemd's user services with PrivateTmp or ProtectSystem, `unshare --user`, bubblewrap and
/// rootless containers run in one. Every user without a number in the namespace is shown with the
/// same overflow number, so root of the machine looks like any other user.
enum UserNamespace {
  /// Whether a number may stand for a user without a number here.
  static func hidesOwner(_ user: UInt32) -> Bool {
    guard user == overflow, let map = SystemText.contents(of: "/proc/self/uid_map") else {
      return false
    }
    return hides(map, user, from: geteuid())
  }

  /// Whether a namespace with this `uid_map` shows users without a number by the overflow number.
  ///
  /// Rootless podman maps 65,536 users, and one of them has that number, too. Root of the machine has
  /// none there: an owner with the overflow number may be either.
  static func hides(_ map: String, _ overflow: UInt32, from ownUser: UInt32) -> Bool {
    // Each line: the first number inside, the first outside, and how many.
    let ranges = map.split(separator: "\n").map { line in
      line.split(separator: " ").compactMap { UInt64($0) }
    }.filter { $0.count == 3 }
    let has = { (user: UInt32, column: Int) in
      ranges.contains { $0[column] <= user && UInt64(user) - $0[column] < $0[2] }
    }
    return !has(overflow, 0) || (ownUser != overflow && !has(0, 1))
  }

  /// The number of users without one; a setting of the whole machine.
  private static let overflow =
    SystemText.number(in: "/proc/sys/kernel/overflowuid").flatMap { UInt32(exactly: $0) } ?? 65534
}

/// Folders that belong to root on every system, by the Filesystem Hierarchy Standard.
///
/// In a user namespace, root may have no number, and these folders look owned by nobody. So do
/// folders of other users, who could replace what is in them. Only the name distinguishes the two:
/// if another user owned one of these, that user would own the whole system.
enum SystemFolders {
  static func contains(_ path: String) -> Bool { paths.contains(path) }

  private static let paths: Set = [
    "/", "/dev", "/dev/shm", "/etc", "/home", "/media", "/mnt", "/opt", "/run", "/run/credentials",
    "/run/lock", "/run/secrets", "/run/user", "/srv", "/tmp", "/usr", "/usr/lib", "/usr/local",
    "/usr/share", "/var", "/var/cache", "/var/home", "/var/lib", "/var/lock", "/var/log",
    "/var/mnt", "/var/opt", "/var/run", "/var/spool", "/var/srv", "/var/tmp",
  ]
}

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

/// How root works on files of another user: by running the command as that user.
///
/// If root created or took over files in the folders of a service, the service would be locked out.
enum OwnerCommand {
  /// Returns what to do about a file or folder of another user; `nil` if the process is not root.
  static func hint(_ owner: FileOwnership) -> String? {
    guard geteuid() == 0, owner.user != 0 else { return nil }
    let prefix =
      name(of: owner.user).map { "runuser -u \($0) --" }
      ?? "setpriv --reuid \(owner.user) --regid \(owner.group) --clear-groups"
    return "run the command as its owner: \(prefix) COMMAND …"
  }

  private static func name(of user: UInt32) -> String? {
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
      return nil
    }
    return unsafe String(validatingCString: name)
  }
}
