/// What git asks of a credential helper: the word after the helper's name.
public enum GitCredentialOperation: String, CaseIterable, Hashable, Sendable {
  /// Give a credential, if there is one.
  case get

  /// Store a credential that was used successfully.
  case store

  /// Remove a credential that was rejected.
  case erase

  /// Say which parts of the protocol the helper knows.
  case capability
}
