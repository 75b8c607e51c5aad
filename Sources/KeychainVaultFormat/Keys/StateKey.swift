package import KeychainCredentials

/// The keys below T0 that every change of a vault needs.
package enum StateKey: Int, CaseIterable, Sendable {
  /// Seals the state.
  case state

  /// Seals the entries of the chain.
  case chain

  /// Hashes the terms of items in the entries of their tokens.
  case tokenTerms

  var label: String {
    switch self {
    case .state: "pk2/state.box"
    case .chain: "pk2/chain.box"
    case .tokenTerms: "pk2/token.sum"
    }
  }
}

extension TierKeys {
  /// Returns a key below T0, which is derived once.
  package func stateKey(_ key: StateKey) throws(KeychainError) -> SharedSecret {
    try derived.stateKey(key, from: open)
  }
}
