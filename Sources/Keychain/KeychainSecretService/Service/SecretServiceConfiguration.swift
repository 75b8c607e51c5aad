/// The collection to use, and what the provider may do.
public struct SecretServiceConfiguration: Sendable {
  /// The collection with the store's items.
  public var collection: SecretServiceCollection

  /// Whether the provider may ask the person at the desktop.
  ///
  /// If `KEYCHAIN_NO_PROMPT` is set to any value, it may never ask.
  public var interaction: SecretServiceInteraction

  /// The maximum time of a call, without people's answers; a call about more than a thousand items
  /// may take twice as long.
  public var deadline: Duration

  /// The maximum time for a person's answer.
  public var promptDeadline: Duration

  package var environment: [String: String]

  /// Creates a configuration; each argument is the property of its name.
  public init(
    collection: SecretServiceCollection = .default, interaction: SecretServiceInteraction = .denied,
    deadline: Duration = .seconds(5), promptDeadline: Duration = .seconds(120)
  ) {
    self.collection = collection
    self.interaction = interaction
    self.deadline = deadline
    self.promptDeadline = promptDeadline
    environment = SessionEnvironment.ofProcess()
  }

  /// Whether a person can be asked: somebody who is logged in over the network does not see
  /// dialogs.
  var canPrompt: Bool {
    interaction == .allowed && isEmpty("KEYCHAIN_NO_PROMPT") && isEmpty("SSH_TTY")
      && !(isEmpty("DISPLAY") && isEmpty("WAYLAND_DISPLAY"))
  }

  private func isEmpty(_ name: String) -> Bool { environment[name]?.isEmpty ?? true }
}

/// A collection of the Secret Service: a keyring, database or wallet.
@nonexhaustive public enum SecretServiceCollection: Hashable, Sendable {
  /// The provider's default collection.
  case `default`

  /// The collection that is deleted at the end of the desktop session, if the provider has one.
  case session

  /// The collection with this label, or with this object path, which begins with
  /// `/org/freedesktop/secrets/`.
  case named(String)

  /// The object path of the session's collection.
  static let sessionPath = "/org/freedesktop/secrets/collection/session"

  /// Whether this is the session's collection, by either name.
  package var endsWithSession: Bool { self == .session || self == .named(Self.sessionPath) }
}

/// Whether the provider may ask a person.
@frozen public enum SecretServiceInteraction: Hashable, Sendable {
  /// Never: calls that need a person throw ``KeychainError/Code/locked`` or
  /// ``KeychainError/Code/refused``.
  case denied

  /// It may show a dialog, if there is a desktop and the session is not over SSH.
  case allowed
}
