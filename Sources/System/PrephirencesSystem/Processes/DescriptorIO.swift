internal import CPrephirencesSystem
internal import Glibc
package import SystemPackage

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
