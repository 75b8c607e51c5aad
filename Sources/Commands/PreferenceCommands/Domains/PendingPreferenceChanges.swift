internal import Glibc
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// Changes on their way from observers to the thread that prints them.
final class PendingPreferenceChanges: Sendable {
  /// Why waiting ended.
  enum End {
    case changed, outputClosed, timedOut
  }

  private struct State {
    var changes: [PreferenceChange] = []
    var failure: PreferencesError?

    /// The values that cannot be read, by the bytes of their keys, and those that are not reported
    /// yet.
    var unreadable: Set<[UInt8]> = []
    var damage: [PreferencesError] = []
  }

  private let state = PosixMutex(State())

  /// A pipe, because the thread waits for the output, too.
  private let receiver: Int32
  private let sender: Int32

  init() throws(CommandLineError) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw .cannotRead("the changes", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    (receiver, sender) = (ends[0], ends[1])
  }

  deinit {
    close(receiver)
    close(sender)
  }

  func add(_ change: PreferenceChange) {
    state.withLock {
      $0.changes.append(change)
      $0.unreadable.remove(Array(change.key.utf8))
    }
    wake()
  }

  /// Records why a value cannot be read, unless that is known.
  func add(unreadable key: PreferenceKey, _ failure: PreferencesError) {
    state.withLock {
      if $0.unreadable.insert(Array(key.utf8)).inserted { $0.damage.append(failure) }
    }
    wake()
  }

  /// Records why changes are no longer noticed.
  func end(with failure: PreferencesError) {
    state.withLock { $0.failure = failure }
    wake()
  }

  /// Returns the changes since the last call.
  ///
  /// - Throws: The failure because of which there will be no more, after the last changes.
  func take() throws(PreferencesError) -> [PreferenceChange] {
    let (taken, failure) = state.withLock { state in
      defer { state.changes = [] }
      return (state.changes, state.failure)
    }
    if taken.isEmpty, let failure { throw failure }
    return taken
  }

  /// Returns why values cannot be read, since the last call.
  func takeDamage() -> [PreferencesError] {
    state.withLock { state in
      defer { state.damage = [] }
      return state.damage
    }
  }

  private func wake() {
    // A full pipe wakes the thread as well.
    var byte: UInt8 = 0
    _ = write(sender, &byte, 1)
  }

  /// Waits until there are changes, nobody reads standard output any more, or the time is over.
  func wait(until end: ContinuousClock.Instant?) -> End {
    while true {
      var sources = [
        pollfd(fd: receiver, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      ]
      let ready = poll(&sources, 2, Self.milliseconds(until: end))
      if ready > 0, sources[0].revents != 0 {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while read(receiver, &bytes, bytes.count) > 0 {}
        return .changed
      }
      if ready > 0, Int32(sources[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
        return .outputClosed
      }
      if let end, ContinuousClock.now >= end { return .timedOut }
    }
  }

  private static func milliseconds(until end: ContinuousClock.Instant?) -> Int32 {
    guard let end else { return -1 }
    let rest = (end - ContinuousClock.now) / .milliseconds(1)
    return Int32(max(0, min(rest.rounded(.up), 3_600_000)))
  }
}
