package import PreferencesCore
internal import PrephirencesSystem

/// Finds changes by comparing values, for preferences that only learn which keys may have changed.
///
/// It retains the preferences, and the values of the observed keys.
package final class ComparingObservation: Sendable {
  private let observer: PreferenceObserver
  private let preferences: @Sendable () -> any PreferencesType
  private let known = PosixMutex<[PreferenceKey: PreferenceChange]>([:])
  private let queue = SerialQueue(PendingLooks(), isBusy: true)

  /// Creates an observation that starts with ``begin()``; earlier requests to look wait for it.
  package init(_ observer: PreferenceObserver, of preferences: any PreferencesType) {
    self.observer = observer
    // Preferences need not be `Sendable`; an observer accepts that the threads that change them use
    // them.
    nonisolated(unsafe) let preferences = preferences
    self.preferences = { preferences }
  }

  package func begin() {
    let values = observer.values(in: preferences())
    let changes = values.map { PreferenceChange(initial: $0, value: $1) }
    known.withLock { known in
      for change in changes { known[change.key] = change }
    }
    if observer.wantsInitialValues {
      for change in changes where !queue.hasEnded { observer.notify(change) }
    }
    queue.runRest(look)
  }

  /// Compares the keys that may have changed, or all if it is `nil`.
  package func look(at keys: [PreferenceKey]?) {
    guard let keys else {
      queue.add { $0.addAll() }
      return queue.run(look)
    }
    let observed = keys.filter(observer.observes)
    // Does not use the queue, which another thread may need for a change.
    guard !observed.isEmpty else { return }
    queue.add { looks in observed.forEach { looks.add($0) } }
    queue.run(look)
  }

  package func end() { queue.end() }

  private func look(_ look: PendingLooks.Look) {
    let preferences = preferences()
    switch look {
    case .key(let key): compare(key, preferences.object(forKey: key))
    case .all:
      let values = observer.values(in: preferences)
      let gone = known.withLock { Set($0.keys) }.subtracting(values.map(\.0))
      for key in gone.sorted() { compare(key, nil) }
      for (key, value) in values { compare(key, value) }
    }
  }

  private func compare(_ key: PreferenceKey, _ value: PreferenceObject?) {
    let next = PreferenceChange(initial: key, value: value)
    let last = known.withLock { known in
      defer { known[key] = next.newValue == nil ? nil : next }
      return known[key]
    }
    guard !queue.hasEnded else { return }
    observer.notify(PreferenceChange(key, from: last?.newValue, to: value))
  }
}

/// Keys that wait to be compared, each once.
struct PendingLooks: PendingWork {
  enum Look {
    case key(PreferenceKey)
    case all
  }

  private var keys: [PreferenceKey] = []
  private var known: Set<PreferenceKey> = []
  private var isAll = false

  mutating func add(_ key: PreferenceKey) {
    if !isAll, known.insert(key).inserted { keys.append(key) }
  }

  mutating func addAll() {
    keys = []
    known = []
    isAll = true
  }

  mutating func popFirst() -> Look? {
    if isAll {
      isAll = false
      return .all
    }
    guard !keys.isEmpty else { return nil }
    let key = keys.removeFirst()
    known.remove(key)
    return .key(key)
  }
}
