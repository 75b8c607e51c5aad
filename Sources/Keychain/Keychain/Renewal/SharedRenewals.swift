internal import KeychainCredentials
internal import Synchronization

/// The renewals that run in this process.
enum SharedRenewals {
  private struct Name: Hashable {
    let store: ObjectIdentifier
    let identity: CredentialIdentity
    let type: ObjectIdentifier
  }

  private static let running = Mutex<[Name: any AnyObject & Sendable]>([:])

  /// Joins the renewal of a credential, or begins one.
  ///
  /// - Returns: The renewal, and the number for waiting.
  static func join<Value: Codable & Sendable>(
    _ item: RenewableItem<Value>, of keychain: KeychainPreferences,
    limit: RenewalTimeout, _ work: @escaping SharedRenewal<Value>.Work
  ) -> (renewal: SharedRenewal<Value>, number: Int) {
    let isObject = type(of: item.store) is AnyClass
    let name = Name(
      store: isObject ? ObjectIdentifier(item.store as AnyObject) : ObjectIdentifier(keychain),
      identity: item.identity, type: ObjectIdentifier(Value.self))
    while true {
      let (renewal, isNew) = running.withLock { running -> (SharedRenewal<Value>, Bool) in
        if let renewal = running[name] as? SharedRenewal<Value>, renewal.isRunning {
          return (renewal, false)
        }
        let renewal = SharedRenewal<Value>(limit: limit)
        running[name] = renewal
        return (renewal, true)
      }
      // It may have ended meanwhile.
      guard let number = renewal.join() else { continue }
      if isNew {
        renewal.start { renewal in
          defer { remove(renewal, name) }
          return try await work(renewal)
        }
      }
      return (renewal, number)
    }
  }

  private static func remove(_ renewal: some AnyObject & Sendable, _ name: Name) {
    running.withLock { running in
      if running[name] === renewal { running[name] = nil }
    }
  }
}
