internal import CLibsecret

/// Why a call on the bus failed.
enum BusError: Error, Hashable {
  /// No answer arrived by the deadline.
  case timedOut

  /// The connection has ended.
  case closed

  /// The other side answered with this error.
  case remote(String)

  /// The answer has the wrong type.
  case unexpectedType

  /// The answer has a list that is too long.
  case tooManyElements

  /// The answer has more bytes than are taken apart.
  case tooLarge

  /// The bus sent more signals than are kept.
  case flooded

  /// The bus or GLib failed.
  case failed

  static let isLocked = remote("org.freedesktop.Secret.Error.IsLocked")
  static let noOwner = remote("org.freedesktop.DBus.Error.NameHasNoOwner")
  static let limitExceededName = "org.freedesktop.DBus.Error.LimitsExceeded"
  static let limitExceeded = remote(limitExceededName)

  /// The relay's answer in place of one that is too large.
  static let tooLargeName = "org.prephirences.Error.TooLarge"
  static let noSession = remote("org.freedesktop.Secret.Error.NoSession")

  /// Whether the object of the call does not exist.
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

  /// Whether the message was not delivered because its receiver has ended.
  var isUndelivered: Bool {
    switch self {
    case .closed, .noOwner, .remote("org.freedesktop.DBus.Error.ServiceUnknown"):
      true
    default: self == .noSession
    }
  }

  /// Whether a call that was sent may have done its work.
  var leavesOutcomeOpen: Bool {
    switch self {
    case .closed, .unexpectedType, .tooManyElements: true
    default: endsConnection && !isUndelivered
    }
  }

  /// Whether the next call needs a new connection.
  var endsConnection: Bool {
    switch self {
    case .timedOut, .failed, .remote("org.freedesktop.DBus.Error.NoReply"),
      .remote("org.freedesktop.DBus.Error.Disconnected"):
      true
    default: isUndelivered
    }
  }

  /// Converts GLib's error, and frees it.
  init(taking error: OpaquePointer?, _ library: Libsecret) {
    let functions = library.functions
    guard let error = unsafe error else {
      self = .failed
      return
    }
    defer { unsafe functions.g_error_free(error) }
    if let name = unsafe functions.g_dbus_error_get_remote_error(error) {
      defer { unsafe functions.g_free(name) }
      let name = unsafe String(cString: name)
      self = name == Self.tooLargeName ? .tooLarge : .remote(name)
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
