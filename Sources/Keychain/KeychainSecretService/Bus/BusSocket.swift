internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// The address of the session bus: a socket of this machine.
///
/// Other kinds of addresses are ignored: the kernel cannot vouch for the user of a bus over TCP,
/// and a bus that would have to be started first is not the session's bus.
enum BusAddress: Hashable, Sendable {
  /// A socket in the file system.
  case path(String)

  /// A socket in the abstract namespace.
  case abstract(String)

  /// Finds the bus of an environment, without starting one.
  init(environment: [String: String]) throws(KeychainError) {
    if let text = environment["DBUS_SESSION_BUS_ADDRESS"], !text.isEmpty {
      guard let found = Self.parse(text) else {
        throw KeychainError(
          .noStore, "the session bus of DBUS_SESSION_BUS_ADDRESS is not a socket of this machine",
          recovery: Self.recovery)
      }
      self = found
      return
    }
    // The variable is often missing although there is a bus, such as under `sudo -u` or in cron.
    guard let runtime = environment["XDG_RUNTIME_DIR"], runtime.hasPrefix("/"),
      unsafe access(runtime + "/bus", F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno)
    else { throw KeychainError(.noStore, "there is no session bus here", recovery: Self.recovery) }
    self = .path(runtime + "/bus")
  }

  static let recovery: KeychainError.Recovery = "use the vault, or log in to a desktop"

  /// Returns the first usable address of a list in the format of the D-Bus specification.
  static func parse(_ text: String) -> Self? {
    for address in text.split(separator: ";") {
      guard let colon = address.firstIndex(of: ":"), address[..<colon] == "unix" else { continue }
      for pair in address[address.index(after: colon)...].split(separator: ",") {
        let parts = pair.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let value = String(parts[1]).percentDecoded else { continue }
        if parts[0] == "path" { return .path(value) }
        if parts[0] == "abstract" { return .abstract(value) }
      }
    }
    return nil
  }
}

extension BusAddress: CustomStringConvertible {
  var description: String {
    switch self {
    case .path(let path): "unix:path=\(path)"
    case .abstract(let name): "unix:abstract=\(name)"
    }
  }
}

/// A connected socket of a bus, with the process at the other end.
final class BusSocket: Sendable {
  let descriptor: CInt
  let peer: ProcessIdentity

  /// Connects; every failure except a missing bus is *busy*: a bus that cannot be reached now is
  /// not absent.
  init(_ address: BusAddress, _ deadline: Deadline) throws(KeychainError) {
    let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .busyBus(address, errno) }
    do throws(KeychainError) {
      try Self.checkDescriptors(descriptor, address)
      try Self.connect(descriptor, address, deadline)
      peer = try Self.peer(of: descriptor, address)
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Ends the connection, for all copies of the descriptor.
  func shutDown() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  /// Checks that descriptors are left for GLib, which ends the process without them.
  private static func checkDescriptors(
    _ descriptor: CInt, _ address: BusAddress
  ) throws(KeychainError) {
    var copies: [CInt] = []
    defer { for copy in copies { close(copy) } }
    for _ in 0..<neededDescriptorCount {
      let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { throw .busyBus(address, errno) }
      copies.append(copy)
    }
  }

  /// A copy of the socket, a descriptor for each of GLib's threads and contexts, and files that are
  /// read for a moment.
  private static let neededDescriptorCount = 16

  /// Returns the process at the other end, which must belong to our user: another user's session
  /// whose address was left over must not receive our secrets.
  private static func peer(
    of descriptor: CInt, _ address: BusAddress
  ) throws(KeychainError) -> ProcessIdentity {
    // The system's `struct ucred`, which Swift does not import.
    var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else {
      throw .busyBus(address, errno)
    }
    let peer = ProcessIdentity(user: credentials.user, process: credentials.process)
    guard peer.isOurs else { throw .busOfAnotherUser(address, peer.user) }
    return peer
  }

  /// Connects; because the socket does not block, a bus whose queue is full refuses temporarily
  /// (EAGAIN).
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
      guard errno == EAGAIN || errno == EINTR else { throw failure(errno, address) }
      guard !deadline.hasPassed else { throw KeychainError.silentBus(address) }
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
    guard fits else { throw .noBus(address, ENAMETOOLONG) }
    return (result, socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
  }

  /// Returns the error for a failed connection; only failures that show that there is no bus of
  /// ours count as a missing bus.
  private static func failure(_ code: CInt, _ address: BusAddress) -> KeychainError {
    switch code {
    case ENOENT, ENOTDIR, ECONNREFUSED: return .noBus(address, code)
    case EACCES, EPERM:
      // An address left over from `su`: the folder of another user's session is closed to us.
      guard let user = address.holder, user != geteuid() else { return .busyBus(address, code) }
      return .busOfAnotherUser(address, user)
    default: return .busyBus(address, code)
    }
  }
}

extension BusAddress {
  /// The user who owns the socket, or the nearest folder above it that can be inspected.
  fileprivate var holder: UInt32? {
    guard case .path(var path) = self else { return nil }
    while true {
      var status = stat()
      if unsafe lstat(path, &status) == 0 { return status.st_uid }
      guard errno == EACCES, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        return nil
      }
      path = String(path[..<slash])
    }
  }
}

extension KeychainError {
  fileprivate static func noBus(_ address: BusAddress, _ code: CInt) -> Self {
    Self(
      .noStore, "no session bus listens at \(address): \(text(of: code))",
      recovery: BusAddress.recovery, underlying: .system(errno: code))
  }

  fileprivate static func busOfAnotherUser(_ address: BusAddress, _ user: UInt32) -> Self {
    Self(
      .noStore, "the session bus at \(address) belongs to another user (\(user))",
      recovery: "unset DBUS_SESSION_BUS_ADDRESS, or use the vault")
  }

  /// The error for a bus that exists but cannot be used now.
  static func busyBus(_ address: BusAddress, _ code: CInt? = nil) -> Self {
    Self(
      .busy,
      "the session bus at \(address) does not take the connection now"
        + (code.map { ": \(text(of: $0))" } ?? ""),
      recovery: "try again; \(.useVault) uses the vault without it",
      underlying: code.map { .system(errno: $0) })
  }

  private static func text(of code: CInt) -> String { Errno(rawValue: code).description }

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
