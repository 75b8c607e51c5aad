internal import Glibc
internal import SystemPackage

/// A path without symbolic links, in which only the user or root can change every folder, except
/// those in ``TrustedFolders``.
package struct TrustedPath: Hashable, Sendable {
  /// The real path; its last parts may not exist.
  package let path: String

  /// Whether others can add files next to it, although they cannot replace it, as in `/tmp`.
  package let othersCanAddFiles: Bool

  /// The folder that holds the file.
  package var folder: String {
    let parent = FilePath(path).removingLastComponent().string
    return parent.isEmpty ? "/" : parent
  }

  /// Resolves a path component by component.
  ///
  /// `realpath` does not suffice: it fails if a link leads to a volume that is not mounted, and
  /// does not show who could replace a component.
  package init(resolving path: String) throws(FileError) {
    var walk = Walk(pending: try Self.absolute(path))
    try walk.finish()
    self.path = walk.reached
    othersCanAddFiles = walk.openFolders.contains(walk.parents.dropLast())
  }

  /// Returns the real path even if others could change the way to it.
  ///
  /// Use it only for work that is safe wherever the path leads. A link made by another user is not
  /// followed, because the vault was seen here before it was made.
  package static func withoutTrust(_ path: String) throws(FileError) -> String {
    var walk = Walk(pending: try absolute(path))
    walk.finishWithoutTrust()
    return walk.reached
  }

  /// Returns the real paths that a path has had or may have had: as it is now, and as it was before
  /// each symbolic link on the way took the place of what was there.
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

  /// The folders that count as the user's own, whoever owns them.
  private let trusted = TrustedFolders.current

  /// The depth of a folder that others cannot enter; they cannot reach what is below it.
  private var privateDepth: Int?

  /// The paths that there would be if each link were no link.
  private(set) var beforeLinks: [String] = []

  /// The folders on the way in which others can create files.
  private(set) var openFolders: [ArraySlice<String>] = []

  init(pending: [String]) { self.pending = pending }

  var reached: String { "/" + parents.joined(separator: "/") }

  static func components(_ path: String) -> [String] {
    path.split(separator: "/").map { String($0) }
  }

  mutating func finish() throws(FileError) {
    try checkFolder(try stat("/"), "/", [])
    while !pending.isEmpty { try advance(to: pending.removeFirst()) }
  }

  /// Treats components that are rejected or cannot be inspected as folders.
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
    case .symbolicLink: try follow(path, stat)
    case .directory:
      try checkFolder(stat, path, parents + [name])
      parents.append(name)
    default:
      guard pending.isEmpty else { throw .failed(.notDirectory, "enter", path) }
      parents.append(name)
    }
  }

  private mutating func follow(_ path: String, _ stat: Stat) throws(FileError) {
    guard isTrusted(linkOf: FileOwner(stat, path)) else {
      throw FileError(.insecure(.linkOfOther), path)
    }
    links += 1
    guard links <= 40 else { throw .failed(.tooManySymbolicLinkLevels, "follow", path) }
    let target = try readLink(path)
    beforeLinks.append(([path] + pending).joined(separator: "/"))
    if target.hasPrefix("/") { leave(to: 0) }
    pending = Self.components(target) + pending
  }

  private mutating func leave(to depth: Int) {
    parents.removeLast(parents.count - depth)
    if let inside = privateDepth, depth < inside { privateDepth = nil }
  }

  /// A link in a folder that is closed to others was made by the folder's owner, who is trusted, or
  /// by somebody whom the owner let in.
  ///
  /// So a hidden owner does not matter.
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
    // A repaired name would be another file's.
    guard let target = String(validating: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
      throw FileError(.notText, "what the symbolic link \(path) leads to")
    }
    return target
  }
}
