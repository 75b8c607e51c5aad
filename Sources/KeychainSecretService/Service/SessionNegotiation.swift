internal import CLibsecret
internal import Synchronization

/// Looks at the replies to `OpenSession` before libsecret gets them.
///
/// libsecret agrees on a key by itself: it takes any number for a provider's public key, and takes a reply
/// apart without comparing all of its type. It uses our connection, whose filter sees what it asks and what
/// is answered; a reply that it must not get becomes an error.
@safe
enum SessionNegotiation {
  /// The names of the errors.
  static let refusedKey = "org.prephirences.Error.RefusedKey"
  static let unexpectedType = "org.prephirences.Error.UnexpectedType"

  /// The numbers of the calls on connections that negotiate, which no process has many of at a time.
  ///
  /// A filter may be running when it is removed, so it has no data of its own.
  private static let calls = Mutex<[UInt: Set<UInt32>]>([:])

  /// Looks at the replies while `body` runs.
  static func watching<Result>(_ bus: BusConnection, _ body: () -> Result) -> Result {
    let functions = bus.library.functions
    let connection = unsafe UInt(bitPattern: bus.pointer)
    calls.withLock { $0[connection] = [] }
    let filter = unsafe functions.g_dbus_connection_add_filter(
      bus.pointer,
      { connection, message, isIncoming, _ in
        guard let connection = unsafe connection, let message = unsafe message else { return nil }
        let key = UInt(bitPattern: connection)
        return unsafe isIncoming != 0
          ? SessionNegotiation.checked(message, key) : SessionNegotiation.noted(message, key)
      }, nil, nil)
    defer {
      unsafe functions.g_dbus_connection_remove_filter(bus.pointer, filter)
      calls.withLock { $0[connection] = nil }
    }
    return body()
  }

  /// Remembers a call that leaves, if it is one that opens a session.
  private static func noted(_ message: OpaquePointer, _ connection: UInt) -> OpaquePointer? {
    guard let functions = try? Libsecret.shared().functions,
      unsafe functions.g_dbus_message_get_message_type(message)
        == UInt32(CLIBSECRET_MESSAGE_METHOD_CALL),
      let member = unsafe functions.g_dbus_message_get_member(message),
      unsafe String(cString: member) == "OpenSession"
    else { return unsafe message }
    let number = unsafe functions.g_dbus_message_get_serial(message)
    calls.withLock { _ = $0[connection]?.insert(number) }
    return unsafe message
  }

  /// Looks at a message that arrives; returns it, or an error in its place.
  private static func checked(_ message: OpaquePointer, _ connection: UInt) -> OpaquePointer? {
    guard let library = try? Libsecret.shared() else { return unsafe message }
    let functions = library.functions
    let number = unsafe functions.g_dbus_message_get_reply_serial(message)
    guard calls.withLock({ $0[connection]?.contains(number) ?? false }),
      unsafe functions.g_dbus_message_get_message_type(message)
        == UInt32(CLIBSECRET_MESSAGE_METHOD_RETURN),
      let problem = unsafe problem(of: functions.g_dbus_message_get_body(message), library)
    else { return unsafe message }
    defer { unsafe functions.g_object_unref(UnsafeMutableRawPointer(message)) }
    // What arrives cannot be changed.
    guard let error = unsafe functions.g_dbus_message_copy(message, nil) else { return nil }
    unsafe functions.g_dbus_message_set_message_type(error, UInt32(CLIBSECRET_MESSAGE_ERROR))
    unsafe functions.g_dbus_message_set_error_name(error, problem)
    unsafe functions.g_dbus_message_set_body(error, nil)
    return unsafe error
  }

  /// What is wrong with a reply; `nil` if nothing is.
  private static func problem(of body: OpaquePointer?, _ library: Libsecret) -> String? {
    guard let body = unsafe body, let kept = unsafe library.functions.g_variant_ref(body) else {
      return unexpectedType
    }
    let reply = unsafe VariantReference(taking: kept, library)
    guard reply.type == "(vo)", let output = reply.child(0)?.held else { return unexpectedType }
    switch output.type {
    case "ay":
      guard output.count <= SessionPublicKey.maximumCount else { return refusedKey }
      return SessionPublicKey.isSound(output.bytes) ? nil : refusedKey
    // That of a session without encryption, which is refused later.
    case "s": return nil
    default: return unexpectedType
    }
  }
}
