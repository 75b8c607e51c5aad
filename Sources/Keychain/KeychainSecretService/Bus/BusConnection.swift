internal import CLibsecret
internal import Dispatch
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

/// A connection to the session bus.
@safe
final class BusConnection: @unchecked Sendable {
  // @unchecked Sendable because all threads may use GLib's connection, and nothing here changes.
  let library: Libsecret
  let pointer: OpaquePointer
  let peer: ProcessIdentity
  private let relay: BusRelay
  private let process = getpid()

  /// Connects and authenticates.
  init(_ address: BusAddress, _ deadline: Deadline) throws(KeychainError) {
    // Done before loading the library, which takes longer than finding no bus, and is not found
    // without descriptors.
    let socket = try BusSocket(address, deadline)
    peer = socket.peer
    let library = try Libsecret.shared()
    self.library = library
    let far: CInt
    do throws(Errno) {
      (relay, far) = try BusRelay.start(socket)
    } catch {
      throw .busyBus(address, error.rawValue)
    }
    do throws(BusError) {
      unsafe pointer = try Self.handshake(far, relay, library, deadline)
    } catch {
      relay.end()
      if let failure = relay.failure { throw KeychainError(failure) }
      // A bus that has too many connections closes new ones.
      throw deadline.hasPassed ? .silentBus(address) : .busyBus(address)
    }
  }

  deinit {
    close()
    unsafe library.functions.g_object_unref(UnsafeMutableRawPointer(pointer))
  }

  /// Whether the connection has ended.
  var isClosed: Bool { unsafe library.functions.g_dbus_connection_is_closed(pointer) != 0 }

  /// Ends the connection: calls that wait for an answer fail.
  func close() { relay.end() }

  /// Prepares for calls that are made together.
  func renewAllowance() { relay.renewAllowance() }

  /// Returns the failure of a call, which may be that the relay has ended the connection.
  func failure(_ error: BusError) -> BusError {
    error == .closed || error == .failed ? relay.failure ?? error : error
  }

  /// Throws in a forked child: GLib's threads don't exist there, so every call would wait forever.
  func checkProcess() throws(KeychainError) {
    guard process == getpid() else {
      throw KeychainError(
        .refused, "a forked child cannot use its parent's connection to the session bus")
    }
  }

  /// Authenticates and says hello.
  ///
  /// GLib has its own, longer deadline for saying hello, so the sockets are shut down at our
  /// deadline. It owns the descriptor, and closes it.
  private static func handshake(
    _ owned: CInt, _ relay: BusRelay, _ library: Libsecret, _ deadline: Deadline
  ) throws(BusError) -> OpaquePointer {
    let watch = DispatchWorkItem { relay.end() }
    let queue = DispatchQueue(label: "bus deadline")
    // Read before the current time: the handshake must not be ended before the deadline, however
    // long the thread is suspended in between. Otherwise the bus would be considered missing.
    let left = deadline.seconds
    queue.asyncAfter(deadline: .now() + left, execute: watch)
    defer { watch.cancel() }
    let functions = library.functions
    var error: OpaquePointer?
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
