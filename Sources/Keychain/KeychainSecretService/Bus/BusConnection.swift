internal import CPrephirencesLibsecret
internal import Dispatch
internal import Glibc
internal import KeychainCredentials
internal import PrephirencesSystem
internal import SystemPackage

@safe
final class BusConnection: @unchecked Sendable {
  // @unchecked Sendable because all threads may use GLib's connection, and nothing here changes.
  let library: Libsecret
  let pointer: OpaquePointer
  private let socket: BusSocket
  private let process = getpid()

  /// Connects and authenticates.
  init(_ address: BusAddress, _ deadline: Deadline) throws(KeychainError) {
    // Before loading the library, because that takes longer than finding no bus, and fails without
    // descriptors.
    socket = try BusSocket(address, deadline)
    library = try Libsecret.shared()
    do throws(BusError) {
      unsafe pointer = try Self.handshake(socket, library, deadline)
    } catch {
      // A bus with too many connections closes new ones.
      throw deadline.hasPassed ? .silentBus(address) : .busyBus(address)
    }
  }

  deinit {
    close()
    unsafe library.functions.g_object_unref(UnsafeMutableRawPointer(pointer))
  }

  var isClosed: Bool { unsafe library.functions.g_dbus_connection_is_closed(pointer) != 0 }

  /// Ends the connection, so that calls that wait for an answer fail.
  func close() { socket.shutDown() }

  /// Throws in a forked child: GLib's threads don't exist there, so every call would wait forever.
  func checkProcess() throws(KeychainError) {
    guard process == getpid() else {
      throw KeychainError(
        .refused, "a forked child cannot use its parent's connection to the session bus")
    }
  }

  /// Authenticates and says hello.
  ///
  /// GLib has its own, longer deadline for saying hello, so the socket is shut down at our
  /// deadline. GLib owns a copy of its descriptor, and closes it.
  private static func handshake(
    _ socket: BusSocket, _ library: Libsecret, _ deadline: Deadline
  ) throws(BusError) -> OpaquePointer {
    let owned = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 3)
    guard owned >= 0 else { throw .failed }
    let watch = DispatchWorkItem { socket.shutDown() }
    let queue = DispatchQueue(label: "bus deadline")
    // Read before the current time: the handshake must not end before the deadline, however long
    // the thread is suspended in between. Otherwise the bus would count as missing.
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
    guard let connection = unsafe connection else { throw unsafe BusError(taking: error, library) }
    return unsafe connection
  }
}

/// A queue of GLib's events for one thread, in which answers and signals arrive.
@safe
final class MainContext {
  private let pointer: OpaquePointer
  private let library: Libsecret

  /// Creates a queue, which receives the answers to the calling thread's calls until ``end()``.
  init?(_ library: Libsecret) {
    guard let pointer = library.functions.g_main_context_new() else { return nil }
    unsafe self.pointer = pointer
    self.library = library
    unsafe library.functions.g_main_context_push_thread_default(pointer)
  }

  deinit { unsafe library.functions.g_main_context_unref(pointer) }

  /// Ends the queue, on the thread that created it, after everything in it has ended.
  func end() { unsafe library.functions.g_main_context_pop_thread_default(pointer) }

  func waitForEvent() { _ = unsafe library.functions.g_main_context_iteration(pointer, 1) }

  /// Ends a wait, from any thread.
  func wakeUp() { unsafe library.functions.g_main_context_wakeup(pointer) }

  /// Wakes the waiting thread regularly while `body` runs, so that it can check the time.
  func ticking<Result>(_ milliseconds: UInt32, _ body: () -> Result) -> Result {
    let functions = library.functions
    guard let source = functions.g_timeout_source_new(milliseconds) else { return body() }
    unsafe functions.g_source_set_callback(source, { _ in 1 }, nil, nil)
    _ = unsafe functions.g_source_attach(source, pointer)
    defer {
      unsafe functions.g_source_destroy(source)
      unsafe functions.g_source_unref(source)
    }
    return body()
  }
}

// @unchecked Sendable because other threads call only `wakeUp`, which GLib allows.
extension MainContext: @unchecked Sendable {}

/// The environment variables about the session.
///
/// Copying the whole environment could copy a passphrase into ordinary memory.
enum SessionEnvironment {
  private static let names = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "KEYCHAIN_NO_PROMPT", "SSH_TTY", "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  static func ofProcess() -> [String: String] {
    names.reduce(into: [:]) { values, name in
      values[name] = unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }
  }
}

struct BusSignal: Sendable {
  let name: String
  let arguments: BusValue
}

/// The signals to listen to; `nil` for any.
struct BusSignalMatch: Sendable {
  var sender: String?
  var interface: String?
  var name: String?
  var path: String?
  var firstArgument: String?

  /// The required type of the arguments; other signals are ignored.
  let arguments: BusType

  /// The signal of the bus that the owner of a unique name has ended.
  static func endOfOwner(_ name: String) -> Self {
    Self(
      sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus",
      name: "NameOwnerChanged", firstArgument: name, arguments: .values("sss"))
  }
}

private final class SignalHandler {
  let library: Libsecret
  private let type: BusType
  private let handle: (BusSignal) -> Void

  init(_ library: Libsecret, _ type: BusType, _ handle: @escaping (BusSignal) -> Void) {
    self.library = library
    self.type = type
    self.handle = handle
  }

  func take(_ name: String, _ arguments: VariantReference) {
    guard let value = try? BusValue(reading: arguments, as: type) else { return }
    handle(BusSignal(name: name, arguments: value))
  }
}

extension BusConnection {
  /// Listens to signals, which arrive in the calling thread's ``MainContext``; returns a number for
  /// ``endListening(_:)``.
  func listen(to match: BusSignalMatch, _ handle: @escaping (BusSignal) -> Void) -> UInt32 {
    unsafe library.functions.g_dbus_connection_signal_subscribe(
      pointer, match.sender, match.interface, match.name, match.path, match.firstArgument, 0,
      { _, _, _, _, name, arguments, data in
        guard let data = unsafe data, let name = unsafe name, let arguments = unsafe arguments
        else { return }
        let handler = unsafe Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
        guard let kept = unsafe handler.library.functions.g_variant_ref(arguments) else { return }
        unsafe handler.take(String(cString: name), VariantReference(taking: kept, handler.library))
      }, Unmanaged.passRetained(SignalHandler(library, match.arguments, handle)).toOpaque(),
      { data in
        if let data = unsafe data { unsafe Unmanaged<SignalHandler>.fromOpaque(data).release() }
      })
  }

  func endListening(_ number: UInt32) {
    unsafe library.functions.g_dbus_connection_signal_unsubscribe(pointer, number)
  }
}
