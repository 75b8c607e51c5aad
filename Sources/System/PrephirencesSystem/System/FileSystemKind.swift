/// The file system of a file, by the table of mounts.
package struct FileSystemKind {
  package let name: String?

  /// The path where it is mounted; empty if that is not known.
  package let mountPoint: String

  /// Whether it is on the network, where locks may not work between machines.
  package var isNetwork: Bool {
    guard let name else { return false }
    return Self.networkNames.contains(name) || name.hasPrefix("fuse.")
  }

  /// Whether it is in memory, so that its files are lost with the mount or the machine.
  package var isInMemory: Bool { name == "tmpfs" || name == "ramfs" }

  private static let networkNames: Set = [
    "nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "lustre", "gfs2", "ocfs2", "virtiofs",
  ]

  package init(name: String?) {
    self.name = name
    mountPoint = ""
  }

  /// Finds the file system of a real path: that of the longest mount point above it.
  package init(of path: String) {
    let table = SystemText.contents(of: "/proc/self/mountinfo") ?? ""
    var best = (mountPoint: "", name: String?.none)
    for line in table.split(separator: "\n") {
      // See proc_pid_mountinfo(5): the mount point is the fifth field, the type follows " - ".
      let fields = line.split(separator: " ")
      guard fields.count > 4, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count
      else { continue }
      let mountPoint = String(fields[4]).replacing("\\040", with: " ")
      let isAbove = mountPoint == "/" || path == mountPoint || path.hasPrefix(mountPoint + "/")
      if isAbove, mountPoint.utf8.count >= best.mountPoint.utf8.count {
        best = (mountPoint, String(fields[dash + 1]))
      }
    }
    name = best.name
    mountPoint = best.mountPoint
  }
}
