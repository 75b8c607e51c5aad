package import KeychainCredentials
package import KeychainSecretService

/// What can be told of the choice of store without making it.
package struct StoreOutlook: Sendable {
  /// The decision for a service, or for a new one; a failure if it is not known.
  package let decision: Result<StoreDecision, KeychainError>

  /// What there is of a desktop keyring.
  package let probe: SecretServiceProbe

  /// Whether there is a session bus to look on.
  package let findsBus: Bool

  /// The stores of the services that have one, and the paths of records that cannot be read.
  package let records: Result<(places: [StorePlace], unreadable: [String]), KeychainError>

  /// What migrations have copied whose services have not changed over.
  package let copies: [UnfinishedCopies]
}

extension AutomaticStore {
  /// Looks at everything that a decision depends on; nothing is started, unlocked, asked or written.
  package func outlook(for service: ServiceName?) -> StoreOutlook {
    let keyring = SecretServiceStore(configuration: configuration.secretService)
    let probe = keyring.probe()
    let decision = Result { () throws(KeychainError) -> StoreDecision in
      let settled: StoreDecision?
      if let service {
        settled = try chooser.settled(service)
      } else {
        settled = try chooser.explicit()
      }
      return settled ?? chooser.decision(by: probe)
    }
    return StoreOutlook(
      decision: decision, probe: probe, findsBus: keyring.findsBus,
      records: Result { () throws(KeychainError) in try records.all() },
      copies: MigrationNotes.unfinished(vault))
  }
}
