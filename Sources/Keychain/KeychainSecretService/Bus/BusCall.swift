internal import CPrephirencesLibsecret
internal import PrephirencesSystem

struct BusCall: Sendable {
  let destination: String
  let path: String
  let interface: String
  let method: String
  var arguments: [BusValue] = []

  /// The required type of the reply.
  let reply: BusType
}

/// A call that waits for its answer.
private final class PendingCall {
  let library: Libsecret
  private let type: BusType
  private let deadline: Deadline
  private(set) var result: BusAnswer?

  init(_ library: Libsecret, _ type: BusType, _ deadline: Deadline) {
    self.library = library
    self.type = type
    self.deadline = deadline
  }

  func fail(_ error: BusError) { result = .failure(error) }

  /// Reads the answer, unless other answers have used up the time.
  func finish(_ answer: VariantReference) {
    guard !deadline.hasPassed else { return fail(.timedOut) }
    do throws(BusError) {
      result = .success(try BusValue(reading: answer, as: type))
    } catch { fail(error) }
  }
}

extension BusConnection {
  /// Sends calls together, and returns an answer or an error for each, in the same order.
  func results(of calls: [BusCall], _ deadline: Deadline) -> [BusAnswer] {
    guard !deadline.hasPassed else { return calls.map { _ in .failure(.timedOut) } }
    guard !isClosed else { return calls.map { _ in .failure(.closed) } }
    guard let context = MainContext(library) else { return calls.map { _ in .failure(.failed) } }
    defer { context.end() }
    let pending = calls.map { send($0, deadline) }
    for call in pending {
      while call.result == nil { context.waitForEvent() }
    }
    return pending.map { $0.result ?? .failure(.failed) }
  }

  func result(of call: BusCall, _ deadline: Deadline) throws(BusError) -> BusValue {
    guard let result = results(of: [call], deadline).first else { throw .failed }
    return try result.get()
  }

  /// Sends a call, which GLib ends with an error at the deadline at the latest.
  private func send(_ call: BusCall, _ deadline: Deadline) -> PendingCall {
    let pending = PendingCall(library, call.reply, deadline)
    let arguments = unsafe BusValue.tuple(call.arguments).makeVariant(library)
    unsafe library.functions.g_dbus_connection_call(
      pointer, call.destination, call.path, call.interface, call.method, arguments, nil,
      UInt32(CLIBSECRET_CALL_NO_AUTO_START), deadline.milliseconds, nil,
      { source, result, data in
        guard let data = unsafe data else { return }
        let pending = unsafe Unmanaged<PendingCall>.fromOpaque(data).takeRetainedValue()
        var error: OpaquePointer?
        let answer = unsafe pending.library.functions.g_dbus_connection_call_finish(
          source, result, &error)
        if let answer = unsafe answer {
          unsafe pending.finish(VariantReference(taking: answer, pending.library))
        } else {
          unsafe pending.fail(BusError(taking: error, pending.library))
        }
      }, Unmanaged.passRetained(pending).toOpaque())
    return pending
  }
}

/// The outcome of a call.
///
/// It is not a `Result`: for the first one, the runtime would search all conformances of the
/// program for that of its error to `Error`.
enum BusAnswer: Sendable {
  case success(BusValue)
  case failure(BusError)

  var error: BusError? { if case .failure(let error) = self { error } else { nil } }

  func get() throws(BusError) -> BusValue {
    switch self {
    case .success(let value): value
    case .failure(let error): throw error
    }
  }
}

/// Why a call on the bus failed.
enum BusError: Error, Hashable {
  case timedOut

  case closed

  /// The other side answered with this error.
  case remote(String)

  /// The answer has the wrong type.
  case unexpectedType

  /// The answer has a list that is too long.
  case tooManyElements

  /// The bus or GLib failed.
  case failed

  static let isLocked = remote("org.freedesktop.Secret.Error.IsLocked")
  static let noOwner = remote("org.freedesktop.DBus.Error.NameHasNoOwner")
  static let limitExceeded = remote("org.freedesktop.DBus.Error.LimitsExceeded")
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
    case .closed, .noOwner, .remote("org.freedesktop.DBus.Error.ServiceUnknown"): true
    default: self == .noSession
    }
  }

  /// Whether the call may have done its work.
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
