internal import Foundation
internal import Prephirences
internal import PrephirencesDurable
internal import PrephirencesShared

/// The preferences of a process: shared with other machines, or of this machine alone.
final class Store {
  let preferences: any FalliblePreferencesType
  private let durable: DurablePreferences

  init(_ suite: String, _ decision: String) {
    durable = DurablePreferences(suiteName: suite)
    preferences = durable
  }

  var lastError: PreferencesError? { durable.lastError }

  func transaction(_ body: () throws -> Void) throws {
    try durable.transaction { _ in try body() }
  }

  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    preferences.addObserver(observer)
  }

  /// Reports what comes from other machines.
  func observeShared() {}

  /// Performs a command that only shared preferences have.
  func performShared(_ command: String, _ words: [Any]) throws -> [String: Any] {
    switch command {
    case "synchronize":
      try durable.synchronize()
      return ["done": true]
    default: throw Session.UsageError()
    }
  }
}
