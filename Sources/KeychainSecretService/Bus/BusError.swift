internal import CLibsecret

/// Why a call on the bus got no answer, or got an error for one.
enum BusError: Error, Hashable {
  /// Nothing came by the deadline.
  case timedOut

  /// The connection is gone.
  case closed

  /// The other side answered with an error of this name.
  case remote(String)

  /// The other side answered with something that is not of the type that it should be.
  case unexpectedType

  /// The other side answered with a longer list than is read.
  case tooManyElements

  /// The bus or GLib could not do it.
  case failed

  static let isLocked = remote("org.freedesktop.Secret.Error.IsLocked")
  static let limitExceeded = remote("org.freedesktop.DBus.Error.LimitsExceeded")
  static let noSession = remote("org.freedesktop.Secret.Error.NoSession")

  /// Whether the object asked for is not there.
  var isMissingObject: Bool {
    switch self {
    case .remote("org.freedesktop.Secret.Error.NoSuchObject"),
      .remote("org.freedesktop.DBus.Error.UnknownObject"),
      .remote("org.freedesktop.DBus.Error.UnknownMethod"),
      .remote("org.freedesktop.DBus.Error.UnknownInterface"):
      true
    default: false
    }
  }

  /// Whether the message was not delivered, because its receiver is gone.
  var isUndelivered: Bool {
    switch self {
    case .closed, .remote("org.freedesktop.DBus.Error.ServiceUnknown"),
      .remote("org.freedesktop.DBus.Error.NameHasNoOwner"):
      true
    default: self == .noSession
    }
  }

  /// Whether a new connection must be made before the next call.
  var endsConnection: Bool {
    switch self {
    case .timedOut, .failed, .remote("org.freedesktop.DBus.Error.NoReply"),
      .remote("org.freedesktop.DBus.Error.Disconnected"):
      true
    default: isUndelivered
    }
  }

  /// Translates GLib's error, and frees it.
  init(taking error: OpaquePointer?, _ library: Libsecret) {
    let functions = library.functions
    guard let error = unsafe error else {
      self = .failed
      return
    }
    defer { unsafe functions.g_error_free(error) }
    if let name = unsafe functions.g_dbus_error_get_remote_error(error) {
      defer { unsafe functions.g_free(name) }
      self = unsafe .remote(String(cString: name))
      return
    }
    let domain = unsafe clibsecret_error_domain(error)
    let code = unsafe Int(clibsecret_error_code(error))
    switch (domain == functions.g_io_error_quark(), code) {
    case (true, CLIBSECRET_ERROR_TIMED_OUT): self = .timedOut
    case (true, CLIBSECRET_ERROR_CLOSED): self = .closed
    default: self = .failed
    }
  }
}

extension Result {
  var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
