internal import CLibsecret
internal import Dispatch
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesFiles

/// A connection to the session bus.
@safe
final class BusConnection: @unchecked Sendable {
  // @unchecked Sendable because GLib's connection may be used by all threads, and nothing here changes.
  let library: Libsecret
  let pointer: OpaquePointer
  let peer: ProcessIdentity
  private let descriptor: CInt
  private let process = getpid()

  /// Connects and says hello.
  ///
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/noStore`` or
  ///   ``KeychainError/Code/timedOut``.
  init(_ address: BusAddress, _ library: Libsecret, _ deadline: Deadline) throws(KeychainError) {
    let socket = try BusSocket(address, deadline)
    peer = socket.peer
    self.library = library
    // GLib owns one descriptor and closes it; this one is for ending what GLib waits for.
    descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else {
      throw KeychainError(
        .inputOutput, "no file descriptor is left", underlying: .system(errno: errno))
    }
    do throws(BusError) {
      unsafe pointer = try Self.handshake(socket, descriptor, library, deadline)
    } catch {
      Glibc.close(descriptor)
      throw deadline.hasPassed
        ? KeychainError(
          .timedOut, "the session bus at \(address) does not answer", recovery: "use the vault")
        : KeychainError(
          .noStore, "what listens at \(address) is not a session bus",
          recovery: BusAddress.recovery)
    }
  }

  deinit {
    close()
    unsafe library.functions.g_object_unref(UnsafeMutableRawPointer(pointer))
    Glibc.close(descriptor)
  }

  /// Whether the connection has ended.
  var isClosed: Bool { unsafe library.functions.g_dbus_connection_is_closed(pointer) != 0 }

  /// Ends the connection: whatever waits for an answer gets none.
  func close() { shutdown(descriptor, CInt(SHUT_RDWR)) }

  /// GLib's threads don't exist in a forked child, where every call would wait for ever.
  func checkProcess() throws(KeychainError) {
    guard process == getpid() else {
      throw KeychainError(
        .refused, "a forked child cannot use its parent's connection to the session bus")
    }
  }

  /// Authenticates and says hello.
  ///
  /// GLib gives the latter a deadline of its own, which is longer than
  /// ours, so the socket is shut down when ours has passed.
  private static func handshake(
    _ socket: borrowing BusSocket, _ descriptor: CInt, _ library: Libsecret, _ deadline: Deadline
  ) throws(BusError) -> OpaquePointer {
    let watch = DispatchWorkItem { shutdown(descriptor, CInt(SHUT_RDWR)) }
    let queue = DispatchQueue(label: "bus deadline")
    // Looked at before the clock to which it is added: what ends the handshake must not come before the
    // deadline, however long the thread waits between the two, or the bus would be taken for none.
    let left = deadline.seconds
    queue.asyncAfter(deadline: .now() + left, execute: watch)
    defer {
      watch.cancel()
      // One that has begun must be over before the number of the descriptor can be another's.
      queue.sync {}
    }
    let functions = library.functions
    var error: OpaquePointer?
    let owned = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
    guard let glibSocket = unsafe functions.g_socket_new_from_fd(owned, &error) else {
      Glibc.close(owned)
      throw unsafe BusError(taking: error, library)
    }
    defer { unsafe functions.g_object_unref(UnsafeMutableRawPointer(glibSocket)) }
    guard
      let stream = unsafe functions.g_socket_connection_factory_create_connection(glibSocket)
    else { throw .failed }
    defer { unsafe functions.g_object_unref(UnsafeMutableRawPointer(stream)) }
    let flags = UInt32(CLIBSECRET_AUTHENTICATION_CLIENT | CLIBSECRET_MESSAGE_BUS_CONNECTION)
    let connection = unsafe functions.g_dbus_connection_new_sync(
      stream, nil, flags, nil, nil, &error)
    guard let connection = unsafe connection else {
      throw unsafe BusError(taking: error, library)
    }
    return unsafe connection
  }
}
