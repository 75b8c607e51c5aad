internal import CLibsecret
internal import Synchronization

/// A signal that arrived.
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
}

extension BusSignalMatch {
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
  /// Listens to signals, which arrive in the calling thread's ``MainContext``.
  ///
  /// - Returns: A number for ``endListening(_:)``.
  func listen(to match: BusSignalMatch, _ handle: @escaping (BusSignal) -> Void) -> UInt32 {
    unsafe library.functions.g_dbus_connection_signal_subscribe(
      pointer, match.sender, match.interface, match.name, match.path, match.firstArgument, 0,
      { _, _, _, _, name, arguments, data in
        guard let data = unsafe data, let name = unsafe name, let arguments = unsafe arguments
        else { return }
        let handler = unsafe Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
        guard let kept = unsafe handler.library.functions.g_variant_ref(arguments) else { return }
        unsafe handler.take(
          String(cString: name), VariantReference(taking: kept, handler.library))
      }, Unmanaged.passRetained(SignalHandler(library, match.arguments, handle)).toOpaque(),
      { data in
        if let data = unsafe data { unsafe Unmanaged<SignalHandler>.fromOpaque(data).release() }
      })
  }

  /// Stops listening.
  func endListening(_ number: UInt32) {
    unsafe library.functions.g_dbus_connection_signal_unsubscribe(pointer, number)
  }
}
