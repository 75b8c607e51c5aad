internal import CLibsecret
internal import PrephirencesSystem

/// A method call.
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

  /// Reads the answer, unless other answers have taken all of the time.
  func finish(_ answer: VariantReference) {
    guard !deadline.hasPassed else { return fail(.timedOut) }
    do throws(BusError) {
      result = .success(try BusValue(reading: answer, as: type))
    } catch {
      fail(error)
    }
  }
}

extension BusConnection {
  /// Sends calls together, and returns their answers in the same order.
  ///
  /// Returns an answer or an error for each call.
  func results(
    of calls: [BusCall], _ deadline: Deadline
  ) -> [BusAnswer] {
    guard !deadline.hasPassed else { return calls.map { _ in .failure(.timedOut) } }
    guard !isClosed else { return calls.map { _ in .failure(failure(.closed)) } }
    guard let context = MainContext(library) else { return calls.map { _ in .failure(.failed) } }
    defer { context.end() }
    renewAllowance()
    let pending = calls.map { send($0, deadline) }
    for call in pending {
      while call.result == nil { context.waitForEvent() }
    }
    return pending.map { call in
      guard let result = call.result else { return .failure(.failed) }
      return result.error.map { .failure(failure($0)) } ?? result
    }
  }

  /// Makes one call.
  func result(
    of call: BusCall, _ deadline: Deadline
  ) throws(BusError) -> BusValue {
    guard let result = results(of: [call], deadline).first else { throw .failed }
    return try result.get()
  }

  /// Sends a call.
  ///
  /// GLib ends it at the deadline at the latest, with an error.
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
