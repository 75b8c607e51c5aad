internal import CLibsecret
internal import KeychainCredentials
internal import KeychainSecrets
internal import PrephirencesSystem
internal import Synchronization

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

  private static let registeredType = Mutex<Int>(0)

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

  /// Decrypts a secret; returns `nil` if it was encrypted with the key of another D-Bus session.
  func decrypt(_ secret: VariantReference) throws(KeychainError) -> SecretBytes? {
    let functions = library.functions
    guard isForThisSession(secret),
      let value = unsafe functions.secret_service_decode_dbus_secret(service, secret.pointer)
    else { return nil }
    defer { unsafe functions.secret_value_unref(UnsafeMutableRawPointer(value)) }
    var count = 0
    let start = unsafe functions.secret_value_get(value, &count)
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    return try translated(secrets: unsafe SecretBytes(copying: bytes.bytes))
  }

  /// Returns whether a secret fits the D-Bus session, by its parts: path, initialization
  /// vector, whole blocks of value, and content type.
  private func isForThisSession(_ secret: VariantReference) -> Bool {
    guard let session = secret.child(0)?.text, let vector = secret.child(1)?.count,
      let value = secret.child(2)?.count
    else { return false }
    return session == path && vector == Self.blockCount && value > 0
      && value % Self.blockCount == 0 && value <= Self.maximumValueCount
  }

  private static let blockCount = 16

  /// The maximum length of one of our secrets, encrypted and in base64.
  private static let maximumValueCount = 2 * Credential.maximumSecretCount

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
    case (.tooLarge, nil): KeychainError(.tooLarge)
    case (.timedOut, nil): .timedOut
    default:
      KeychainError(
        .noStore, "the desktop keyring opens no session for secrets",
        recovery: "start its program again, or use the vault")
    }
  }
}
