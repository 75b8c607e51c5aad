internal import FoundationEssentials
internal import KeychainCredentials
internal import PrephirencesSystem
internal import Synchronization

/// Listens to the provider's signals while a store has observers.
final class ChangeWatch: WriteAnnouncer {
  let observers = CredentialObservers()
  private let configuration: SecretServiceConfiguration
  private let state = PosixMutex(State())

  private struct State {
    var observerCount = 0
    var listener: ChangeListener?
    var ledger = CollectionLedger()
    var hasLedger = false
  }

  init(_ configuration: SecretServiceConfiguration) { self.configuration = configuration }

  deinit { state.withLock { $0.listener }?.stop() }

  /// Adds an observer; for the first one, it waits until listening has begun, if the provider
  /// answers.
  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    let inner = observers.add(observer)
    let listener = state.withLock { state -> ChangeListener? in
      state.observerCount += 1
      guard state.observerCount == 1 else { return nil }
      let listener = ChangeListener(self, configuration)
      state.listener = listener
      return listener
    }
    listener?.start(configuration.deadline)
    let hasEnded = Atomic(false)
    return CredentialObservation { [weak self] in
      guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
      inner.cancel()
      self?.removeObserver()
    }
  }

  private func removeObserver() {
    let listener = state.withLock { state -> ChangeListener? in
      state.observerCount -= 1
      guard state.observerCount == 0 else { return nil }
      let listener = state.listener
      state = State()
      return listener
    }
    listener?.stop()
  }

  func willWrite(version: UInt64) {
    state.withLock { if $0.listener != nil { $0.ledger.expect(version: version) } }
  }

  func willRemove(_ path: String) {
    state.withLock { if $0.listener != nil { $0.ledger.expectRemoval(of: path) } }
  }

  /// Processes what a listener has read, and notifies the observers of changes.
  func take(_ listener: ChangeListener, _ report: ChangeListener.Report) {
    let changes = state.withLock { state -> [CredentialChange] in
      guard state.listener === listener else { return [] }
      switch report {
      case .creation(let item): return state.ledger.noteCreation(of: item)
      case .change(let item): return state.ledger.note(item)
      case .removal(let path): return state.ledger.noteRemoval(of: path)
      case .all(let items):
        let isFirst = !state.hasLedger
        state.hasLedger = true
        return state.ledger.noteAll(items, isFirst: isFirst)
      }
    }
    for change in changes { observers.notify(change) }
  }
}

/// The items of a collection, which show what a signal means.
///
/// A signal reports only that an item changed, and one change of ours causes up to three. The
/// version in each item shows whether a change was not reported yet, and whether this store made
/// it.
struct CollectionLedger {
  private struct Entry {
    let identity: CredentialIdentity
    let version: UInt64
  }

  private var entries: [String: Entry] = [:]
  private var ownVersions: Set<UInt64> = []
  private var ownRemovals: Set<String> = []

  /// Records a version that this store is about to write, because it reports that change itself.
  mutating func expect(version: UInt64) {
    // Versions are microseconds. A signal that has not arrived within a minute never will.
    ownVersions = ownVersions.filter { $0 + 60_000_000 > version }
    ownVersions.insert(version)
  }

  /// Records an item that this store is about to remove, because it reports the removal itself.
  mutating func expectRemoval(of path: String) { ownRemovals.insert(path) }

  /// Records an existing item, and returns its unreported changes.
  mutating func note(_ item: ServiceItem) -> [CredentialChange] {
    guard let credential = item.credential else { return [] }
    let old = entries[item.path]
    entries[item.path] = Entry(identity: credential.identity, version: credential.version)
    if item.ours != nil, old?.version == credential.version { return [] }
    guard ownVersions.remove(credential.version) == nil else { return [] }
    guard let old else { return [CredentialChange(credential.identity, .added)] }
    guard old.identity != credential.identity else {
      return [CredentialChange(credential.identity, .updated)]
    }
    return [
      CredentialChange(old.identity, .removed), CredentialChange(credential.identity, .added),
    ]
  }

  /// Records an item that is reported as new, as all items of an unlocked database are.
  mutating func noteCreation(of item: ServiceItem) -> [CredentialChange] {
    isKnown(item) ? [] : note(item)
  }

  /// Records that an item is gone.
  mutating func noteRemoval(of path: String) -> [CredentialChange] {
    let isOwn = ownRemovals.remove(path) != nil
    guard let old = entries.removeValue(forKey: path), !isOwn else { return [] }
    return [CredentialChange(old.identity, .removed)]
  }

  /// Records all items of the collection; the first time, they are not changes.
  mutating func noteAll(_ items: [ServiceItem], isFirst: Bool) -> [CredentialChange] {
    let paths = Set(items.map(\.path))
    let gone = entries.keys.filter { !paths.contains($0) }
    var changes = gone.flatMap { noteRemoval(of: $0) }
    for item in items where !isKnown(item) { changes += note(item) }
    return isFirst ? [] : changes
  }

  /// Returns whether only a signal could show that an item has changed: for other programs' items,
  /// two changes within a second have the same version.
  private func isKnown(_ item: ServiceItem) -> Bool {
    guard let credential = item.credential, let known = entries[item.path] else { return false }
    return known.version == credential.version && known.identity == credential.identity
  }
}

extension ItemFinder {
  /// Returns all items; `nil` if the collection was locked before or after they were read.
  ///
  /// While it is locked, providers show no items (KeePassXC) or hide their names (gnome-keyring),
  /// which must not look like a change.
  func itemsIfUnlocked() throws(KeychainError) -> [ServiceItem]? {
    guard try !isLocked(operation.results(of: [lockedQuestion])) else { return nil }
    return try itemsIfUnlocked(allPaths())
  }

  /// Returns those of some items that exist; `nil` if the collection was locked after they were
  /// read.
  func itemsIfUnlocked(_ paths: [String]) throws(KeychainError) -> [ServiceItem]? {
    let items = try items(paths)
    return try isLocked(operation.results(of: [lockedQuestion])) ? nil : items
  }
}
