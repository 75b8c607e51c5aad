internal import CPrephirencesSystem
internal import Glibc
package import SystemPackage

extension Errno {
  /// The error of the last system call.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text for the error, without a capital, and the limit to raise if one was reached.
  package var words: String {
    let text = description
    let words = text.prefix(1).lowercased() + text.dropFirst()
    guard self == .tooManyOpenFiles else { return words }
    return words
      + "; raise the limit of this process with LimitNOFILE= of its service, or 'ulimit -n'"
  }

  /// The same for a thread that cannot be started.
  package var wordsOfThread: String {
    guard self == .resourceTemporarilyUnavailable else { return words }
    return "too many threads; raise TasksMax= of the service, or 'ulimit -u'"
  }
}

/// Reads small text files of the kernel, whose sizes are not known beforehand.
package enum SystemText {
  package static func contents(of path: String) -> String? {
    guard
      let descriptor = try? FileDescriptor.open(
        FilePath(path), .readOnly, options: [.closeOnExec, .noFollow])
    else { return nil }
    defer { try? descriptor.close() }
    var text: [UInt8] = []
    while let chunk = try? DescriptorIO.read(descriptor, 4096), !chunk.isEmpty,
      text.count < 1 << 22
    {
      text += chunk
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the number that is the whole content of a file.
  package static func number(in path: String) -> UInt64? {
    contents(of: path).flatMap { UInt64($0.trimmingSuffix("\n")) }
  }
}

extension String {
  fileprivate func trimmingSuffix(_ suffix: Character) -> Substring {
    last == suffix ? dropLast() : self[...]
  }
}

/// The file system of a file, from the table of mounts.
package struct FileSystemKind {
  package let name: String?

  /// The path where it is mounted; empty if unknown.
  package let mountPoint: String

  /// Whether it is on the network, where locks may not work between machines.
  package var isNetwork: Bool {
    guard let name else { return false }
    return Self.networkNames.contains(name) || name.hasPrefix("fuse.")
  }

  /// Whether it is in memory: its files are lost with the mount or the machine.
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

/// The release of this package.
package enum Release {
  package static let version = "0.1.0"
}
