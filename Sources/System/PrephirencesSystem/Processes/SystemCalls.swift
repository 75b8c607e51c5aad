internal import CPrephirencesSystem
internal import Glibc
package import SystemPackage

extension Errno {
  /// The error of the system call that just failed.
  package static var current: Errno { Errno(rawValue: errno) }

  /// The system's text for the error, without a capital, and the limit to raise if one is reached.
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

/// Reads and writes complete pieces through any descriptor: files, pipes, sockets.
package enum DescriptorIO {
  /// Makes a pipe that no program has which another thread starts meanwhile.
  package static func pipe(
    flags: CInt = 0
  ) throws(Errno) -> (read: FileDescriptor, write: FileDescriptor) {
    var ends: [CInt] = [-1, -1]
    guard unsafe pipe2(&ends, O_CLOEXEC | flags) == 0 else { throw .current }
    return (FileDescriptor(rawValue: ends[0]), FileDescriptor(rawValue: ends[1]))
  }

  /// Reads until there are `count` bytes, or the input ends.
  package static func read(
    _ descriptor: FileDescriptor, _ count: Int, awaiting awaitInput: (CInt) -> Bool = { _ in true }
  ) throws(Errno) -> [UInt8] {
    var failure: Errno?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      while let start = buffer.baseAddress, initialized < count {
        guard awaitInput(descriptor.rawValue) else {
          failure = .timedOut
          return
        }
        let result = unsafe Glibc.read(
          descriptor.rawValue, start + initialized, count - initialized)
        if result == 0 { return }
        if result > 0 {
          initialized += result
        } else if let error = errorAfterWaiting(descriptor, POLLIN) {
          failure = error
          return
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  package static func write(_ bytes: [UInt8], to descriptor: FileDescriptor) throws(Errno) {
    var offset = 0
    while offset < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe buffer.baseAddress.map {
          unsafe Glibc.write(descriptor.rawValue, $0 + offset, buffer.count - offset)
        } ?? 0
      }
      if result >= 0 {
        offset += result
      } else if let error = errorAfterWaiting(descriptor, POLLOUT) {
        throw error
      }
    }
  }

  /// Returns the error of the call that just failed; `nil` if the call must be repeated because it
  /// was interrupted, or because the descriptor is non-blocking and now ready.
  private static func errorAfterWaiting(_ descriptor: FileDescriptor, _ event: CInt) -> Errno? {
    switch errno {
    case EINTR: return nil
    case EAGAIN:
      var waiting = pollfd(fd: descriptor.rawValue, events: Int16(event), revents: 0)
      unsafe poll(&waiting, 1, -1)
      return nil
    default: return .current
    }
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
    var chunk = [UInt8](repeating: 0, count: 65536)
    while let count = unsafe try? chunk.withUnsafeMutableBytes({
      try unsafe descriptor.read(into: $0)
    }),
      count > 0, text.count < 1 << 22
    {
      text += chunk.prefix(count)
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

/// The release of this package.
package enum Release {
  package static let version = "0.1.0"
}
