internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles

/// A connected socket of a bus, with the process at the other end.
struct BusSocket: ~Copyable {
  let descriptor: CInt
  let peer: ProcessIdentity

  /// Connects.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` if there is no bus, or it
  ///   belongs to another user, or ``KeychainError/Code/timedOut``.
  init(_ address: BusAddress, _ deadline: Deadline) throws(KeychainError) {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Self.unreachable(address, errno) }
    do throws(KeychainError) {
      try Self.connect(descriptor, address, deadline)
      peer = try Self.peer(of: descriptor, address)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Returns the process at the other end, which must belong to our user: an address left over from
  /// another user's session must not receive our secrets.
  private static func peer(
    of descriptor: CInt, _ address: BusAddress
  ) throws(KeychainError) -> ProcessIdentity {
    // The system's `struct ucred`, which Swift does not import.
    var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
      throw unreachable(address, errno)
    }
    let peer = ProcessIdentity(user: credentials.user, process: credentials.process)
    guard peer.isOurs else {
      throw KeychainError(
        .noStore, "the session bus at \(address) belongs to another user (\(peer.user))",
        recovery: "unset DBUS_SESSION_BUS_ADDRESS, or use the vault")
    }
    return peer
  }

  /// Connects; a bus whose queue is full temporarily refuses (EAGAIN), because the socket does not
  /// block.
  private static func connect(
    _ descriptor: CInt, _ address: BusAddress, _ deadline: Deadline
  ) throws(KeychainError) {
    var (name, size) = try socketAddress(address)
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    while true {
      let result = unsafe withUnsafePointer(to: &name) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(descriptor, $0, size)
        }
      }
      guard result != 0 else { return }
      guard errno == EAGAIN || errno == EINTR else { throw unreachable(address, errno) }
      guard !deadline.hasPassed else {
        throw KeychainError.silentBus(address)
      }
      usleep(5000)
    }
  }

  private static func socketAddress(
    _ address: BusAddress
  ) throws(KeychainError) -> (sockaddr_un, socklen_t) {
    let bytes: [UInt8] =
      switch address {
      case .path(let path): Array(path.utf8) + [0]
      case .abstract(let name): [0] + Array(name.utf8)
      }
    var result = sockaddr_un()
    result.sun_family = sa_family_t(AF_UNIX)
    let fits = unsafe withUnsafeMutableBytes(of: &result.sun_path) { path in
      guard bytes.count <= path.count else { return false }
      unsafe path.copyBytes(from: bytes)
      return true
    }
    guard fits else { throw unreachable(address, ENAMETOOLONG) }
    return (result, socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
  }

  private static func unreachable(_ address: BusAddress, _ code: CInt) -> KeychainError {
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return KeychainError(
      .noStore, "no session bus listens at \(address): \(reason)", recovery: BusAddress.recovery,
      underlying: .system(errno: code))
  }
}

extension KeychainError {
  static func silentBus(_ address: BusAddress) -> Self {
    Self(
      .timedOut, "the session bus at \(address) does not answer",
      recovery: "look whether it hangs; \(.useVault) uses the vault without it")
  }
}

/// A process at the other end of a connection.
struct ProcessIdentity: Hashable, Sendable {
  let user: UInt32
  let process: Int32

  var isOurs: Bool { user == geteuid() }
}
