internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesShared

/// The preferences of a process: shared with other machines, or of this machine alone.
final class Store {
  let preferences: any FalliblePreferencesType
  let durable: DurablePreferences
  private let shared: SharedPreferences?
  private var observations: [PreferenceObservation] = []

  /// Names the preferences; the decision is `plain`, or what to do about conflicts.
  init(_ suite: String, _ decision: String) {
    guard decision != "plain" else {
      shared = nil
      durable = DurablePreferences(suiteName: suite)
      preferences = durable
      return
    }
    let shared =
      if let resolver = Conflicts.resolver(decision) {
        SharedPreferences(suiteName: suite, conflicts: resolver)
      } else {
        SharedPreferences(suiteName: suite)
      }
    self.shared = shared
    durable = shared.durable
    preferences = shared
  }

  var lastError: PreferencesError? { shared?.lastError ?? durable.lastError }

  func transaction(_ body: () throws -> Void) throws {
    if let shared {
      try shared.transaction { _ in try body() }
    } else {
      try durable.transaction { _ in try body() }
    }
  }

  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }

  /// Reports what comes from other machines, and what fails in the background.
  func observeShared() {
    guard let shared else { return }
    observations.append(shared.observeExternalChanges(report(external:)))
    observations.append(
      shared.observeFailures { report(["event": "failure"].merging(described($0)) { $1 }) })
  }

  /// Performs a command that only shared preferences have.
  func performShared(_ command: String, _ words: [Any]) throws -> [String: Any] {
    guard let shared else { throw Session.UsageError() }
    switch command {
    case "flush": try shared.flush(deadline: .seconds(words.first as? Int ?? 30))
    case "synchronize": try shared.synchronize()
    case "status": return fields(try shared.status())
    default: throw Session.UsageError()
    }
    return ["done": true]
  }

  private func fields(_ status: SharedPreferences.Status) -> [String: Any] {
    [
      "shared": status.isShared, "readOnly": status.isReadOnly, "unsent": status.unsentKeys,
      "since": plain(status.oldestUnsent?.timeIntervalSince1970),
      "contact": plain(status.lastContact?.timeIntervalSince1970),
      "failure": plain(status.failure.map(described)),
      "waiting": status.waiting.map {
        ["keys": $0.keys, "reason": "\($0.reason)", "message": plain($0.message)]
      },
    ]
  }
}

@Sendable private func report(external change: SharedPreferences.ExternalChange) {
  report(["event": "external", "reason": "\(change.reason)", "keys": change.keys, "time": now()])
  for lost in change.lostValues {
    report([
      "event": "conflict", "key": lost.key, "lost": plain(lost.localValue?.object),
      "value": plain(lost.sharedValue?.object),
    ])
  }
}
