internal import CPrephirencesLibsecret
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem

/// libsecret's session with a provider, which agrees on a key and encrypts secrets in transit.
@safe
final class SecretSession: @unchecked Sendable {
  // @unchecked Sendable because libsecret's object guards its session with its own lock.
  private let service: OpaquePointer
  private let library: Libsecret

  /// The provider's object for the session.
  let path: String

  /// Agrees on a key with the provider.
  init(_ bus: BusConnection, _ owner: String, _ deadline: Deadline) throws(KeychainError) {
    library = bus.library
    let functions = library.functions
    var error: OpaquePointer?
    guard
      let service = unsafe clibsecret_service_new(
        library.table, Self.type(library), bus.pointer, owner, deadline.milliseconds, &error)
    else { throw unsafe Self.failure(error, bus.library) }
    var isOpen = false
    let problem = SessionNegotiation.problem(bus) {
      isOpen = unsafe functions.secret_service_ensure_session_sync(service, nil, &error) != 0
    }
    guard isOpen, problem == nil else {
      unsafe functions.g_object_unref(UnsafeMutableRawPointer(service))
      throw unsafe Self.failure(error, bus.library, problem)
    }
    unsafe self.service = service
    let algorithms = unsafe functions.secret_service_get_session_algorithms(service)
    guard let algorithms = unsafe algorithms, unsafe String(cString: algorithms) != "plain" else {
      unsafe functions.g_object_unref(UnsafeMutableRawPointer(service))
      throw KeychainError(
        .refused, "the desktop keyring offers no encryption for secrets on the session bus",
        recovery: "use another program for the desktop keyring, or the vault")
    }
    path =
      if let path = unsafe functions.secret_service_get_session_dbus_path(service) {
        unsafe String(cString: path)
      } else {
        "/"
      }
  }

  private static let registeredType = PosixMutex<Int>(0)

  /// Returns our subclass of libsecret's service, which accepts a connection.
  private static func type(_ library: Libsecret) -> Int {
    registeredType.withLock { type in
      if type == 0 { type = unsafe clibsecret_service_register(library.table) }
      return type
    }
  }

  deinit { unsafe library.functions.g_object_unref(UnsafeMutableRawPointer(service)) }

  /// Encrypts a secret, using only libsecret's locked memory.
  func encrypt(_ secret: borrowing SecretBytes) throws(KeychainError) -> VariantReference {
    let functions = library.functions
    let value = unsafe secret.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { buffer in
        // libsecret reads the pointer even if the length is zero.
        guard let start = buffer.baseAddress else {
          return unsafe functions.secret_value_new("", 0, "text/plain")
        }
        return unsafe functions.secret_value_new(
          start.assumingMemoryBound(to: CChar.self), buffer.count, "text/plain")
      }
    }
    guard let value = unsafe value else { throw Self.noMemory }
    defer { unsafe functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
    guard
      let encoded = unsafe functions.secret_service_encode_dbus_secret(service, value),
      let owned = unsafe functions.g_variant_take_ref(encoded)
    else { throw Self.noMemory }
    return unsafe VariantReference(taking: owned, library)
  }

  /// Decrypts a secret; `nil` if it was encrypted with the key of another D-Bus session.
  func decrypt(_ secret: VariantReference) throws(KeychainError) -> SecretBytes? {
    let functions = library.functions
    guard secret.child(2).map({ $0.count <= Self.maximumValueCount }) ?? true else {
      throw Self.tooLargeSecret
    }
    guard isForThisSession(secret),
      let value = unsafe functions.secret_service_decode_dbus_secret(service, secret.pointer)
    else { return nil }
    defer { unsafe functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
    var count = 0
    let start = unsafe functions.secret_value_get(value, &count)
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    return try unsafe SecretBytes(copying: bytes.bytes)
  }

  /// Returns whether a secret belongs to the D-Bus session, by its parts: path, initialization
  /// vector, whole blocks of value, and content type.
  private func isForThisSession(_ secret: VariantReference) -> Bool {
    guard let session = secret.child(0)?.text, let vector = secret.child(1)?.count,
      let value = secret.child(2)?.count
    else { return false }
    return session == path && vector == Self.blockCount && value > 0
      && value % Self.blockCount == 0
  }

  private static let blockCount = 16

  /// The maximum length of one of our secrets, encrypted and in base64.
  private static let maximumValueCount = 2 * Credential.maximumSecretCount

  private static let tooLargeSecret = KeychainError(
    .tooLarge, "the desktop keyring sent a secret that is too large to be read",
    recovery: "restart or update its program, or use another collection or the vault")

  private static let noMemory = KeychainError(
    .insufficientMemory, "there is not enough memory to hold a secret")

  private static func failure(
    _ error: OpaquePointer?, _ library: Libsecret, _ problem: SessionNegotiation.Problem? = nil
  ) -> KeychainError {
    switch (unsafe BusError(taking: error, library), problem) {
    case (_, .key):
      KeychainError(
        .refused,
        "the encryption key of the desktop keyring is not secure: "
          + "any program on the session bus could read secrets",
        recovery: "use another program for the desktop keyring, or the vault")
    case (_, .type): KeychainError(.unexpectedType)
    case (.timedOut, nil): .timedOut
    default:
      KeychainError(
        .noStore, "the desktop keyring opens no session for secrets",
        recovery: "start its program again, or use the vault")
    }
  }
}

/// Checks the replies to `OpenSession` before libsecret receives them.
///
/// libsecret agrees on a key itself, but accepts any number as a provider's public key, and does
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

  /// The messages of a connection.
  private struct Watch {
    let connection: UInt

    /// The calls, and the required contents of their replies.
    var calls: [(number: UInt32, output: Output)] = []
    var problem: Problem?

    func output(for number: UInt32) -> Output? { calls.first { $0.number == number }?.output }
  }

  /// The watched connections: one for each thread that opens a session.
  ///
  /// They are lists, because they are short, and the first use of a dictionary takes longer.
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

  /// The provider's contribution for the requested algorithm.
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
  private static let watches = PosixMutex(Watches())

  /// Checks the replies while `body` runs; returns a reply's problem, if any.
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
      let problem = unsafe problem(of: functions.g_dbus_message_get_body(message), output, library)
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

  /// Returns the problem of a reply; `nil` if there is none.
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

/// A provider's public key: a number of the second Oakley group (RFC 2409, 6.2).
enum SessionPublicKey {
  /// The length of the group's prime.
  static let maximumCount = 128

  /// A random key is shorter than this with probability 2⁻⁵¹².
  private static let minimumCount = 64

  /// Returns whether the resulting key is secret.
  ///
  /// All powers of 0, 1 and p − 1 are 0, 1 or p − 1, whatever the exponent. A power of a small
  /// number can be computed from what the other side sends in clear. Leading zeros may be missing.
  static func isSound(_ bytes: [UInt8]) -> Bool {
    let digits = bytes.drop { $0 == 0 }
    guard bytes.count <= maximumCount, digits.count >= minimumCount else { return false }
    let key = Array(repeating: 0, count: maximumCount - digits.count) + digits
    return key.lexicographicallyPrecedes(primeMinusOne)
  }

  private static let primeMinusOne: [UInt8] = {
    let words: [UInt64] = [
      0xFFFF_FFFF_FFFF_FFFF, 0xC90F_DAA2_2168_C234, 0xC4C6_628B_80DC_1CD1, 0x2902_4E08_8A67_CC74,
      0x020B_BEA6_3B13_9B22, 0x514A_0879_8E34_04DD, 0xEF95_19B3_CD3A_431B, 0x302B_0A6D_F25F_1437,
      0x4FE1_356D_6D51_C245, 0xE485_B576_625E_7EC6, 0xF44C_42E9_A637_ED6B, 0x0BFF_5CB6_F406_B7ED,
      0xEE38_6BFB_5A89_9FA5, 0xAE9F_2411_7C4B_1FE6, 0x4928_6651_ECE6_5381, 0xFFFF_FFFF_FFFF_FFFE,
    ]
    return words.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
    }
  }()
}
