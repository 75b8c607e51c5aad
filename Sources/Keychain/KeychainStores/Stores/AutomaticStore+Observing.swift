public import KeychainCredentials
internal import Synchronization

extension AutomaticStore {
  /// Observes the stores in use; see the protocol.
  ///
  /// If another store comes into use later, its observation begins with the first credential that
  /// this handle writes to it. If a store was chosen explicitly, only that store is observed.
  ///
  /// - Parameter observer: Called on an arbitrary thread. It must not wait for the store.
  /// - Returns: The observation, which ends when this object is destroyed.
  public func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void
  ) -> CredentialObservation {
    observing.begin(observer, placesToObserve, self)
  }

  private var placesToObserve: [StorePlace] {
    do throws(KeychainError) {
      if let explicit = try chooser.explicit() { return [explicit.place] }
      let places = try placesInUse().places
      // The file system reports a vault that is created later.
      return places.contains(.vault) ? places : places + [.vault]
    } catch {
      return [.vault]
    }
  }
}

/// The observers of an automatic store, with their observations of each store.
final class StoreObserving: Sendable {
  private struct Observer {
    let notify: @Sendable (CredentialChange) -> Void
    var observations: [StorePlace: CredentialObservation]
  }

  /// In a type of its own: without generic parameters, the runtime needs no conformances to destroy
  /// it.
  private struct Numbered {
    var next = 0
    var all: [Int: Observer] = [:]
  }

  private let observers = Mutex(Numbered())

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
    // The observation continues without the handle, as those of the stores do.
    return CredentialObservation { [self] in
      // It ends outside the lock, because that may wait for a running observer.
      _ = observers.withLock { $0.all.removeValue(forKey: number) }
    }
  }

  /// Returns whether there are observers that do not observe this store.
  func misses(_ place: StorePlace) -> Bool {
    observers.withLock { $0.all.contains { $0.value.observations[place] == nil } }
  }

  /// Starts to observe a store that has come into use.
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
