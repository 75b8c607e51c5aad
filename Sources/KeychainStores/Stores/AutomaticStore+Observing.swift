public import KeychainCredentials
internal import Synchronization

extension AutomaticStore {
  /// Observes the stores in use; see the protocol.
  ///
  /// A store that comes into use later is observed from the first credential that this handle writes to
  /// it. Of a store that was chosen explicitly, nothing else is observed.
  ///
  /// - Parameter observer: Called on an arbitrary thread. It must not wait for the store.
  /// - Returns: Keeps the observation alive; it ends when this is destroyed.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    observing.begin(observer, placesToObserve, self)
  }

  private var placesToObserve: [StorePlace] {
    do throws(KeychainError) {
      if let explicit = try chooser.explicit() { return [explicit.place] }
      let places = try placesInUse().places
      // A vault that is made later is told of by the file system.
      return places.contains(.vault) ? places : places + [.vault]
    } catch {
      return [.vault]
    }
  }
}

/// The observers of a choice of stores, with their observations of each.
final class StoreObserving: Sendable {
  private struct Observer {
    let notify: @Sendable (CredentialChange) -> Void
    var observations: [StorePlace: CredentialObservation]
  }

  private let observers = Mutex<(next: Int, all: [Int: Observer])>((0, [:]))

  func begin(
    _ notify: @escaping @Sendable (CredentialChange) -> Void, _ places: [StorePlace],
    _ store: AutomaticStore
  ) -> CredentialObservation {
    var observations: [StorePlace: CredentialObservation] = [:]
    for place in places { observations[place] = store.store(at: place).observe(notify) }
    let observer = Observer(notify: notify, observations: observations)
    let number = observers.withLock { observers in
      observers.next += 1
      observers.all[observers.next] = observer
      return observers.next
    }
    // It goes on without the handle, as those of the stores do.
    return CredentialObservation { [self] in
      // What ends it runs outside the lock, since it may wait for an observer that is being called.
      _ = observers.withLock { $0.all.removeValue(forKey: number) }
    }
  }

  /// Whether somebody observes, and not this store.
  func misses(_ place: StorePlace) -> Bool {
    observers.withLock { $0.all.contains { $0.value.observations[place] == nil } }
  }

  /// Observes a store that is used from now on.
  func use(_ place: StorePlace, _ store: AutomaticStore) {
    let missing = observers.withLock { observers in
      observers.all.filter { $0.value.observations[place] == nil }
    }
    for (number, observer) in missing {
      let observation = store.store(at: place).observe(observer.notify)
      observers.withLock { $0.all[number]?.observations[place] = observation }
    }
  }
}
