import Prephirences
import Synchronization

/// A store that keeps its own observers, as the documentation of `PreferenceObservers` shows it.
final class SampleStore: MutablePreferencesType, Sendable {
  private struct Values: @unchecked Sendable { var all: PreferencesDictionary = [:] }
  private let values = Mutex(Values())
  private let observers = PreferenceObservers()

  func object(forKey key: PreferenceKey) -> PreferenceObject? { dictionary()[key] }
  func dictionary() -> PreferencesDictionary { values.withLock(\.self).all }
  func removeObject(forKey key: PreferenceKey) { set(nil as Any?, forKey: key) }

  func set(_ value: PreferenceObject?, forKey key: PreferenceKey) {
    nonisolated(unsafe) let value = value
    values.withLock { values in
      observers.post([PreferenceChange(key, from: values.all[key], to: value)])
      values.all[key] = value
    }
    observers.tellPosted()
  }

  func addObserver(_ observer: PreferenceObserver) -> PreferenceObservation {
    observers.add(observer, of: self)
  }
}

/// Notes what it is told.
final class ChangeRecorder: Sendable {
  private let changes = Mutex<[PreferenceChange]>([])

  func record(_ change: PreferenceChange) { changes.withLock { $0.append(change) } }

  var all: [PreferenceChange] { changes.withLock(\.self) }

  /// What was told, as "key: old -> new", or "key = value" for the beginning.
  var texts: [String] { all.map(\.text) }
}

extension PreferenceChange {
  var text: String {
    let new = newValue.map { "\($0)" } ?? "nil"
    return isInitial ? "\(key) = \(new)" : "\(key): \(oldValue.map { "\($0)" } ?? "nil") -> \(new)"
  }
}
