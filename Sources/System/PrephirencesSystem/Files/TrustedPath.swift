internal import CPrephirencesSystem
internal import Glibc
internal import SystemPackage

/// A path without symbolic links, in which only the user or root can change every folder, except
/// those in ``TrustedFolders``.
package struct TrustedPath: Hashable, Sendable {
  /// The real path; its last parts may not exist.
  package let path: String

  /// Whether others can add files next to it but cannot replace it, as in `/tmp`.
  package let othersCanAddFiles: Bool

  /// The paths that the file had before each symbolic link on the way replaced what was there.
  package let beforeLinks: [String]

  /// The real path first.
  package var pastAndPresent: [String] { [path] + beforeLinks }

  /// The folder that holds the file.
  package var folder: String {
    let parent = FilePath(path).removingLastComponent().string
    return parent.isEmpty ? "/" : parent
  }

  /// Resolves a path component by component.
  ///
  /// `realpath` fails if a link leads to a volume that is not mounted, and does not show who could
  /// replace a component.
  package init(resolving path: String) throws(FileError) {
    var walk = Walk(pending: try Self.absolute(path))
    try walk.finish()
    self.path = walk.reached
    othersCanAddFiles = walk.openFolders.contains(walk.parents.dropLast())
    beforeLinks = walk.beforeLinks
  }

  /// Returns the real path even if others could change the way to it.
  ///
  /// Use it only for work that is safe wherever the path leads. Links of other users are not
  /// followed: they were made after the vault was seen here.
  package static func withoutTrust(_ path: String) throws(FileError) -> String {
    var walk = Walk(pending: try absolute(path))
    walk.finishWithoutTrust()
    return walk.reached
  }

  /// Returns the real paths that a path has or may have had: now, and before each symbolic link on
  /// the way replaced what was there.
  ///
  /// Use them only for work that is safe wherever they lead.
  package static func pastAndPresent(_ path: String) throws(FileError) -> [String] {
    var walk = Walk(pending: try absolute(path))
    walk.finishWithoutTrust()
    return [walk.reached] + walk.beforeLinks
  }

  private static func absolute(_ path: String) throws(FileError) -> [String] {
    guard !path.isEmpty, !path.utf8.contains(0) else { throw FileError(.invalidPath, path) }
    return Walk.components(try fromRoot(path))
  }

  /// Returns a path from the root, without resolving it.
  package static func fromRoot(_ path: String) throws(FileError) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = unsafe getcwd(nil, 0) else {
      throw .failed(.current, "find the current folder for", path)
    }
    defer { unsafe free(folder) }
    guard let text = unsafe String(validatingCString: folder) else {
      throw FileError(.notText, "the path of the current folder")
    }
    return text + "/" + path
  }
}

/// The steps from the root folder to a file.
private struct Walk {
  var pending: [String]
  var parents: [String] = []
  var links = 0

  /// The folders that count as the user's own, regardless of their owners.
  private let trusted = TrustedFolders.current

  /// The depth of a folder that others cannot enter; they cannot reach what is below it.
  private var privateDepth: Int?

  /// The paths that would result if each link were a folder.
  private(set) var beforeLinks: [String] = []

  /// The folders on the way in which others can create files.
  private(set) var openFolders: [ArraySlice<String>] = []

  init(pending: [String]) { self.pending = pending }

  var reached: String { Self.path(of: parents) }

  /// Joins components; `joined` would first search the conformances of their array.
  private static func path(of components: [String]) -> String {
    components.isEmpty ? "/" : components.reduce(into: "") { $0 += "/" + $1 }
  }

  static func components(_ path: String) -> [String] {
    path.split(separator: "/").map { String($0) }
  }

  mutating func finish() throws(FileError) {
    try checkFolder(try stat("/"), "/", [])
    while !pending.isEmpty { try advance(to: pending.removeFirst()) }
  }

  /// Continues as if components that are rejected or cannot be inspected were folders.
  mutating func finishWithoutTrust() {
    while !pending.isEmpty {
      let name = pending.removeFirst()
      do throws(FileError) {
        try advance(to: name)
      } catch { parents.append(name) }
    }
  }

  private mutating func advance(to name: String) throws(FileError) {
    switch name {
    case ".": break
    case "..": leave(to: max(0, parents.count - 1))
    default: try step(name)
    }
  }

  private mutating func step(_ name: String) throws(FileError) {
    let path = parents.isEmpty ? "/" + name : reached + "/" + name
    guard let stat = try statIfThere(path) else {
      parents.append(name)
      return
    }
    switch stat.type {
    case .symbolicLink: try follow(path, name, stat)
    case .directory:
      try checkFolder(stat, path, parents + [name])
      parents.append(name)
    default:
      guard pending.isEmpty else { throw .failed(.notDirectory, "enter", path) }
      parents.append(name)
    }
  }

  private mutating func follow(
    _ path: String, _ name: String, _ stat: Stat
  ) throws(FileError) {
    guard isTrusted(linkOf: FileOwner(stat, path)) else {
      throw FileError(.insecure(.linkOfOther), path)
    }
    links += 1
    guard links <= 40 else { throw .failed(.tooManySymbolicLinkLevels, "follow", path) }
    let target = try readLink(path)
    // Links from and to /proc lead elsewhere in each process.
    if !path.hasPrefix("/proc/"), !target.hasPrefix("/proc/") {
      beforeLinks.append(lexical(pathOf: [name] + pending))
    }
    if target.hasPrefix("/") { leave(to: 0) }
    pending = Self.components(target) + pending
  }

  /// Returns the path of components below what was reached, as if none of them were a link.
  private func lexical(pathOf components: [String]) -> String {
    var path = parents
    for component in components where component != "." {
      if component == ".." { _ = path.popLast() } else { path.append(component) }
    }
    return Self.path(of: path)
  }

  private mutating func leave(to depth: Int) {
    parents.removeLast(parents.count - depth)
    if let inside = privateDepth, depth < inside { privateDepth = nil }
  }

  /// A link in a folder that is closed to others was made by the folder's owner, who is trusted, or
  /// by somebody whom the owner let in: a hidden owner doesn't matter.
  private func isTrusted(linkOf owner: FileOwner) -> Bool {
    owner.isTrusted || (owner == .unmapped && !openFolders.contains(parents[...]))
  }

  private mutating func checkFolder(
    _ stat: Stat, _ path: String, _ components: [String]
  ) throws(FileError) {
    guard privateDepth == nil, !trusted.contains(path) else { return }
    let folder = FolderTrust(stat, path, trusted)
    try folder.require()
    if folder.isOpen { openFolders.append(components[...]) }
    if folder.isPrivate { privateDepth = components.count }
  }

  private func stat(_ path: String) throws(FileError) -> Stat {
    try onFile(path, "look at", unsafe Stat(path, followTargetSymlink: false))
  }

  private func statIfThere(_ path: String) throws(FileError) -> Stat? {
    do throws(Errno) {
      return try unsafe Stat(path, followTargetSymlink: false)
    } catch {
      guard error == .noSuchFileOrDirectory else { throw .failed(error, "look at", path) }
      return nil
    }
  }

  private func readLink(_ path: String) throws(FileError) -> String {
    let capacity = Int(PATH_MAX)
    var count = -1
    let bytes = unsafe [CChar](unsafeUninitializedCapacity: capacity) { buffer, initialized in
      if let start = buffer.baseAddress { count = unsafe readlink(path, start, capacity) }
      initialized = max(0, count)
    }
    guard count >= 0 else { throw .failed(.current, "follow", path) }
    // A repaired name would name another file.
    guard let target = String(validating: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
      throw FileError(.notText, "what the symbolic link \(path) leads to")
    }
    return target
  }
}

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
    let others = trusted.othersBits(stat, path)
    isOpen =
      others & 0o002 != 0 || (others & 0o020 != 0 && !Self.hasPrivateGroup(stat, path, owner))
  }

  /// Whether the group of the user's folder is the user alone.
  ///
  /// With an access list, the group's bits are the maximum for every user of the list.
  private static func hasPrivateGroup(_ stat: Stat, _ path: String, _ owner: FileOwner) -> Bool {
    guard owner == .user, unsafe cinheritedfiles_has_path_access_list(path) == 0 else {
      return false
    }
    return PrivateGroup().isAlone(stat.groupID.rawValue, of: stat.userID.rawValue)
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

  /// Finds the owner of the file at a path; for a symbolic link, `user` is never certain.
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

  /// In a namespace without any numbers, the user's own files look like anybody's.
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
  /// Whether the number may stand for a user without a number here.
  static func hidesOwner(_ user: UInt32) -> Bool {
    guard user == overflow, let map = SystemText.contents(of: "/proc/self/uid_map") else {
      return false
    }
    return hides(map, user, from: geteuid())
  }

  /// Whether a namespace with this `uid_map` shows users without a number by the overflow number.
  ///
  /// Rootless podman maps 65,536 users, of which one has that number, but not root of the machine:
  /// an owner with the overflow number may be either.
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

  /// The number that stands for users without one: a setting of the whole machine.
  private static let overflow =
    SystemText.number(in: "/proc/sys/kernel/overflowuid").flatMap { UInt32(exactly: $0) } ?? 65534
}

/// Folders that belong to root on every system, by the Filesystem Hierarchy Standard.
///
/// In a user namespace, root may have no number, and these folders look as if nobody owned them. So
/// do folders of other users, who could replace their contents. Only the name tells them apart: a
/// user who owned one of these would own the whole system.
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
/// container cannot find out who is in that group: groups are set by number when a process starts,
/// and no file needs to list them. So the user must say it.
struct TrustedFolders: Sendable {
  static let variable = "KEYCHAIN_TRUSTED_FOLDERS"

  private struct Folder {
    let path: String
    let group: UInt32
  }

  private let folders: [Folder]

  /// The folders of the environment; none if one of them is not UTF-8.
  static var current: Self { Self(try? EnvironmentVariables.process.value(variable)) }

  /// Creates a list from absolute paths separated by colons, and ignores others.
  init(_ text: String?) {
    folders = (text ?? "").split(separator: ":").compactMap { name in
      guard name.hasPrefix("/"), let real = unsafe realpath(String(name), nil) else { return nil }
      defer { unsafe free(real) }
      let path = unsafe String(cString: real)
      guard let stat = try? Stat(FilePath(path)), stat.type == .directory else { return nil }
      return Folder(path: path, group: stat.groupID.rawValue)
    }
  }

  /// Whether a folder, given by its real path, is trusted.
  func contains(_ path: String) -> Bool { folders.contains { $0.path == path } }

  /// Returns the bits of a mode that apply to others.
  ///
  /// Below a trusted folder, the folder's group counts as the user. Each time a pod starts,
  /// Kubernetes gives that group all files of a volume, with read and write permission.
  func othersBits(_ stat: Stat, _ path: String) -> CInterop.Mode {
    let mode = stat.permissions.rawValue
    let isOfGroup = folders.contains {
      $0.group == stat.groupID.rawValue && path.hasPrefix($0.path == "/" ? "/" : $0.path + "/")
    }
    return isOfGroup ? mode & 0o007 : mode & 0o077
  }

  static func hint(_ path: String) -> String {
    let known = (try? EnvironmentVariables.process.value(variable)).map { $0 + ":" } ?? ""
    return "\(variable)=\(ShellText.quoted(known + path))"
  }
}

/// How root works on files of another user: by running the command as that user.
///
/// If root created or took over files in the folders of a service, the service could not use them.
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
