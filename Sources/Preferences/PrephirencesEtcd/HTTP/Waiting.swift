internal import Dispatch
internal import PrephirencesSystem

/// A wait that another thread, or a cancellation, ends.
final class Waiting: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func end() { semaphore.signal() }

  /// Waits until ``end()``, at most until the deadline.
  ///
  /// - Returns: Whether it was ended.
  /// - Throws: ``EtcdError/Code/cancelled``.
  func wait(_ deadline: Deadline, _ cancellation: EtcdCancellation?) throws(EtcdError) -> Bool {
    func wait() -> Bool { semaphore.wait(timeout: .now() + deadline.seconds) == .success }
    let isEnded =
      if let cancellation { cancellation.waking(by: { self.end() }, wait) } else { wait() }
    try cancellation.check()
    return isEnded
  }
}
