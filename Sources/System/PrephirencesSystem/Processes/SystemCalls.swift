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

/// Repeats calls that signals interrupt, but not forever: a file system can interrupt each one.
package struct Interruptions: ~Copyable {
  /// More than signals interrupt a call in a row that doesn't wait.
  private static let greatestCount = 1000
  private var count = 0

  package init() {}

  /// Repeats a call that returns -1 on failure; `Errno.interrupted` if it is interrupted every
  /// time.
  package static func repeating<Result: FixedWidthInteger>(
    _ call: () -> Result
  ) throws(Errno) -> Result {
    var interruptions = Interruptions()
    while true {
      let result = call()
      guard result < 0 else { return result }
      let error = Errno.current
      guard error == .interrupted, interruptions.mayGoOn() else { throw error }
    }
  }

  /// Counts an interruption; `false` if there were too many since the last progress.
  fileprivate mutating func mayGoOn() -> Bool {
    count += 1
    return count < Self.greatestCount
  }

  fileprivate mutating func noteProgress() { count = 0 }
}

/// Reads and writes complete pieces through any descriptor: files, pipes, sockets.
package enum DescriptorIO {
  /// Creates a pipe that a program started by another thread doesn't inherit.
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
    var interruptions = Interruptions()
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
          interruptions.noteProgress()
        } else if let error = errorAfterWaiting(descriptor, POLLIN, &interruptions) {
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
    var interruptions = Interruptions()
    while offset < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe buffer.baseAddress.map {
          unsafe Glibc.write(descriptor.rawValue, $0 + offset, buffer.count - offset)
        } ?? 0
      }
      if result >= 0 {
        offset += result
        interruptions.noteProgress()
      } else if let error = errorAfterWaiting(descriptor, POLLOUT, &interruptions) {
        throw error
      }
    }
  }

  /// Writes all bytes at an offset of a file.
  package static func write(
    _ bytes: some Sequence<UInt8>, to descriptor: FileDescriptor, at offset: Int64
  ) throws(Errno) {
    let bytes = Array(bytes)
    var written = 0
    while written < bytes.count {
      written += try Interruptions.repeating {
        unsafe bytes.withUnsafeBytes {
          unsafe pwrite(
            descriptor.rawValue, $0.baseAddress?.advanced(by: written), $0.count - written,
            off_t(offset) + written)
        }
      }
    }
  }

  /// Reads at most `count` bytes at an offset of a file, with one call.
  package static func read(
    _ descriptor: FileDescriptor, _ count: Int, at offset: Int64
  ) throws(Errno) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = try Interruptions.repeating {
      unsafe pread(descriptor.rawValue, &bytes, count, off_t(offset))
    }
    return Array(bytes.prefix(read))
  }

  /// Returns the error of the last call; `nil` if the call must be repeated because it was
  /// interrupted, or because the descriptor is non-blocking and now ready.
  private static func errorAfterWaiting(
    _ descriptor: FileDescriptor, _ event: CInt, _ interruptions: inout Interruptions
  ) -> Errno? {
    var waiting = pollfd(fd: descriptor.rawValue, events: Int16(event), revents: 0)
    switch errno {
    case EINTR:
      // While it blocks, any number of signals may come.
      let isReady = unsafe poll(&waiting, 1, 0) > 0
      return !isReady || interruptions.mayGoOn() ? nil : .interrupted
    case EAGAIN:
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
