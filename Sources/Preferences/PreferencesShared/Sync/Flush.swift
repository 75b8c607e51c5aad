internal import Foundation
internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesSystem

/// Waits until the engine has what was changed on this machine.
struct Flush {
  let core: SyncCore

  /// Whether to end at once if the engine refuses in a way that only a person can mend.
  var endsWhenRefused = false

  func perform(_ deadline: Deadline) throws(PreferencesError) {
    let replica = core.replica
    let refusal = Refusal(replica)
    let lastEntry = try replica.lastJournalEntry()
    let mark = try replica.logMark()
    var unsent = try replica.unsent(upTo: mark)
    guard !unsent.keys.isEmpty else { return }
    let keys = unsent.keys
    let path = try replica.filePath()
    // Without notifications, only a look shows what has changed.
    let watch = try? FileWatch(
      withSuffixes: ["-lock", SenderLock.suffix], noticesEachWrite: true
    ) { path }
    defer { watch?.close() }
    if !core.isForked { core.signals.change { $0.flushes += 1 } }
    // Whoever sends waits no longer for its next attempt.
    if try replica.state().report?.code != nil { core.wake() }
    while true {
      unsent = try replica.unsent(upTo: mark)
      guard !unsent.keys.isEmpty else { return try checkLosses(keys, after: lastEntry) }
      if unsent.areWaiting {
        // A closure may be about to decide, in whichever process.
        let mayBeDecided = try replica.conflicts().contains { $0.message == nil }
        guard mayBeDecided, !deadline.hasPassed else { throw waiting(unsent) }
      }
      guard !deadline.hasPassed else { throw timedOut(unsent) }
      if endsWhenRefused { try checkRefusal(refusal) }
      if let watch {
        // A notification can be lost, the deadline must not.
        _ = watch.wait(min(deadline.milliseconds, 1000))
      } else {
        Deadline.pause(upTo: 50)
      }
    }
  }

  private func checkRefusal(_ refusal: Refusal) throws(PreferencesError) {
    do throws(PreferencesError) {
      try refusal.check(isUnsent: true)
    } catch {
      throw PreferencesError(
        error.code, "\(error.message); what is unsent stays on this machine")
    }
  }

  /// - Throws: ``PreferencesError`` if a change was given up, since another machine was first.
  private func checkLosses(
    _ keys: [PreferenceKey], after entry: Int64
  ) throws(PreferencesError) {
    let lost = Set(try core.replica.losses(after: entry).map { Array($0.key.utf8) })
    var given: [PreferenceKey] = []
    for key in keys where lost.contains(Array(key.utf8)) && !given.contains(key) {
      given.append(key)
    }
    guard !given.isEmpty else { return }
    throw PreferencesError(
      .conflict,
      "\(Self.names(given)) changed on another machine first, and what was set here was given "
        + "up; read what is there now, and set it again if it must be another value")
  }

  private func timedOut(_ unsent: UnsentChanges) -> PreferencesError {
    let report = (try? core.replica.state())?.report
    let reason =
      PreferencesError.stoppedSender(of: core.replica).map { "; \($0.message)" }
      ?? report?.message.map { "; the last failure: \($0)" } ?? ""
    let isOne = unsent.keys.count == 1
    let outcome =
      unsent.mayHaveHappened
      ? "\(isOne ? "it" : "some") may have reached etcd nevertheless"
      : "\(isOne ? "it has not" : "none has") reached etcd"
    return PreferencesError(
      unsent.mayHaveHappened ? .outcomeUnknown : .timedOut,
      "\(Self.names(unsent.keys)) not sent in time; \(outcome), and what was not is sent later"
        + reason)
  }

  private func waiting(_ unsent: UnsentChanges) -> PreferencesError {
    PreferencesError(
      .conflict,
      "\(Self.names(unsent.keys)) not sent, because "
        + (unsent.keys.count == 1
          ? "it waits for a decision or was refused" : "they wait for a decision or were refused"))
  }

  private static func names(_ keys: [PreferenceKey]) -> String {
    let names = keys.prefix(5).map { "'\($0)'" }.joined(separator: ", ")
    let more = keys.count > 5 ? " and \(keys.count - 5) more" : ""
    return keys.count == 1 ? "the key \(names) was" : "the keys \(names)\(more) were"
  }
}
