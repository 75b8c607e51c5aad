import Foundation
import Prephirences

/// A value behind a lock that the thread sanitizer knows, as it does not know `Mutex`.
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}

/// A store that keeps its own observers, as the documentation of `PreferenceObservers` shows it.
final class SampleStore: MutablePreferencesType, Sendable {
  private let values = Locked<PreferencesDictionary>([:])
  private let observers = PreferenceObservers()

  func object(forKey key: PreferenceKey) -> PreferenceObject? { dictionary()[key] }
  func dictionary() -> PreferencesDictionary { values.withLock { $0 } }
  func removeObject(forKey key: PreferenceKey) { set(nil as Any?, forKey: key) }

  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    values.withLock { values in
      observers.post([PreferenceChange(key, from: values[key], to: value)])
      values[key] = value
    }
    observers.deliverPending()
  }

  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    observers.add(observer, of: self)
  }
}

/// Notes what it is told.
final class ChangeRecorder: Sendable {
  private let changes = Locked<[PreferenceChange]>([])

  func record(_ change: PreferenceChange) { changes.withLock { $0.append(change) } }

  var all: [PreferenceChange] { changes.withLock { $0 } }

  /// What was told, as "key: old -> new", or "key = value" for the beginning.
  var texts: [String] { all.map(\.text) }
}

extension PreferenceChange {
  var text: String {
    let new = newValue.map { "\($0)" } ?? "nil"
    return isInitial ? "\(key) = \(new)" : "\(key): \(oldValue.map { "\($0)" } ?? "nil") -> \(new)"
  }
}
