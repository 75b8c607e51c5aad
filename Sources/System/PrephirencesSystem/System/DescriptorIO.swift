internal import Glibc
package import SystemPackage

/// Reads and writes complete pieces through any descriptor: files, pipes, sockets.
package enum DescriptorIO {
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

  /// Writes all bytes.
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
