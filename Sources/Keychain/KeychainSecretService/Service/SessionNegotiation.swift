internal import CLibsecret
internal import Synchronization

/// Checks the replies to `OpenSession` before libsecret receives them.
///
/// libsecret agrees on a key itself, but it accepts any number as a provider's public key, and does
/// not compare the whole type of a reply, so that the bytes of a string can become a key. It uses
/// our connection, whose filter sees its calls and their replies; a bad reply is replaced by an
/// error.
@safe
enum SessionNegotiation {
  /// Why libsecret must not receive a reply.
  enum Problem {
    /// Others could compute the resulting key.
    case key

    /// It has the wrong type.
    case type
  }

  /// What was seen on a connection.
  private struct Watch {
    let connection: UInt

    /// The calls, and what the replies must contain.
    var calls: [(number: UInt32, output: Output)] = []
    var problem: Problem?

    func output(for number: UInt32) -> Output? { calls.first { $0.number == number }?.output }
  }

  /// What was seen on all connections: one for each thread that opens a session.
  ///
  /// Lists, since they are short, and the first use of a dictionary takes longer.
  private struct Watches {
    private var all: [Watch] = []

    subscript(connection: UInt) -> Watch? {
      get { all.first { $0.connection == connection } }
      set {
        all.removeAll { $0.connection == connection }
        if let newValue { all.append(newValue) }
      }
    }
  }

  /// What the provider must send for the requested algorithm.
  private enum Output {
    /// A public key, as bytes.
    case key

    /// An empty string: the session has no encryption, and is refused later.
    case nothing

    /// Selects the required output: a key, unless no encryption was requested.
    init(call body: OpaquePointer?, _ library: Libsecret) {
      let call = unsafe VariantReference(sharing: body, library)
      self = call?.type == "(sv)" && call?.child(0)?.text == "plain" ? .nothing : .key
    }
  }

  /// Global, because a filter may still be running when it is removed.
  private static let watches = Mutex(Watches())

  /// Checks the replies while `body` runs, and returns the problem of one, if any.
  static func problem(_ bus: BusConnection, during body: () -> Void) -> Problem? {
    let functions = bus.library.functions
    let connection = unsafe UInt(bitPattern: bus.pointer)
    watches.withLock { $0[connection] = Watch(connection: connection) }
    let filter = unsafe functions.g_dbus_connection_add_filter(
      bus.pointer,
      { connection, message, isIncoming, _ in
        guard let connection = unsafe connection, let message = unsafe message else { return nil }
        let key = UInt(bitPattern: connection)
        return unsafe isIncoming != 0
          ? SessionNegotiation.checked(message, key) : SessionNegotiation.noted(message, key)
      }, nil, nil)
    body()
    unsafe functions.g_dbus_connection_remove_filter(bus.pointer, filter)
    return watches.withLock { watches in
      defer { watches[connection] = nil }
      return watches[connection]?.problem
    }
  }

  /// Records an outgoing call if it opens a session.
  private static func noted(_ message: OpaquePointer, _ connection: UInt) -> OpaquePointer? {
    guard let library = try? Libsecret.shared() else { return unsafe message }
    let functions = library.functions
    guard
      unsafe functions.g_dbus_message_get_message_type(message)
        == UInt32(CLIBSECRET_MESSAGE_METHOD_CALL),
      let member = unsafe functions.g_dbus_message_get_member(message),
      unsafe String(cString: member) == "OpenSession"
    else { return unsafe message }
    let number = unsafe functions.g_dbus_message_get_serial(message)
    let output = unsafe Output(call: functions.g_dbus_message_get_body(message), library)
    watches.withLock { $0[connection]?.calls.append((number, output)) }
    return unsafe message
  }

  /// Checks an incoming message; returns it, or an error instead.
  private static func checked(_ message: OpaquePointer, _ connection: UInt) -> OpaquePointer? {
    guard let library = try? Libsecret.shared() else { return unsafe message }
    let functions = library.functions
    let number = unsafe functions.g_dbus_message_get_reply_serial(message)
    guard let output = watches.withLock({ $0[connection]?.output(for: number) }),
      unsafe functions.g_dbus_message_get_message_type(message)
        == UInt32(CLIBSECRET_MESSAGE_METHOD_RETURN),
      let problem = unsafe problem(
        of: functions.g_dbus_message_get_body(message), output, library)
    else { return unsafe message }
    watches.withLock { $0[connection]?.problem = problem }
    defer { unsafe functions.g_object_unref(UnsafeMutableRawPointer(message)) }
    // Incoming messages cannot be changed.
    guard let error = unsafe functions.g_dbus_message_copy(message, nil) else { return nil }
    unsafe functions.g_dbus_message_set_message_type(error, UInt32(CLIBSECRET_MESSAGE_ERROR))
    unsafe functions.g_dbus_message_set_error_name(error, "org.prephirences.Error.UnusableSession")
    unsafe functions.g_dbus_message_set_body(error, nil)
    return unsafe error
  }

  /// Returns the problem of a reply; `nil` if it is good.
  private static func problem(
    of body: OpaquePointer?, _ output: Output, _ library: Libsecret
  ) -> Problem? {
    guard let reply = unsafe VariantReference(sharing: body, library), reply.type == "(vo)",
      let sent = reply.child(0)?.held
    else { return .type }
    switch (output, sent.type) {
    case (.key, "ay"):
      guard sent.count <= SessionPublicKey.maximumCount else { return .key }
      return SessionPublicKey.isSound(sent.bytes) ? nil : .key
    case (.nothing, "s"): return nil
    default: return .type
    }
  }
}
