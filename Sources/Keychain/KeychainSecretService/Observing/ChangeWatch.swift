internal import FoundationEssentials
internal import KeychainCredentials
internal import Synchronization

/// Listens to the provider's signals while a store has observers.
final class ChangeWatch: WriteAnnouncer {
  let observers = CredentialObservers()
  private let configuration: SecretServiceConfiguration
  private let state = Mutex(State())

  private struct State {
    var observerCount = 0
    var listener: ChangeListener?
    var ledger = CollectionLedger()
    var hasLedger = false
  }

  init(_ configuration: SecretServiceConfiguration) {
    self.configuration = configuration
  }

  deinit { state.withLock { $0.listener }?.stop() }

  /// Adds an observer.
  ///
  /// For the first one, it waits until listening has begun, if the provider answers.
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
