/// Where items are kept, and how the provider may behave.
public struct SecretServiceConfiguration: Sendable {
  /// The collection whose items the store has.
  public var collection: SecretServiceCollection

  /// Whether the provider may ask the person at the desktop.
  ///
  /// Where `KEYCHAIN_NO_PROMPT` is set to anything, it may not, whatever this says.
  public var interaction: SecretServiceInteraction

  /// How long a call may take, people's answers excluded; one about more than a thousand items may take
  /// twice as long.
  public var deadline: Duration

  /// How long a person may take for an answer.
  public var promptDeadline: Duration

  package var environment: [String: String]

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - collection: The collection whose items the store has.
  ///   - interaction: Whether the provider may ask the person at the desktop.
  ///   - deadline: How long a call may take, people's answers excluded.
  ///   - promptDeadline: How long a person may take for an answer.
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

  /// Whether somebody can be asked: a dialog on a desktop helps nobody who came over the network.
  var canPrompt: Bool {
    interaction == .allowed && isEmpty("KEYCHAIN_NO_PROMPT") && isEmpty("SSH_TTY")
      && !(isEmpty("DISPLAY") && isEmpty("WAYLAND_DISPLAY"))
  }

  private func isEmpty(_ name: String) -> Bool { environment[name]?.isEmpty ?? true }
}

/// A collection of the Secret Service: a keyring, database or wallet.
public enum SecretServiceCollection: Hashable, Sendable {
  /// The one that the provider calls its default.
  case `default`

  /// The one that is forgotten at the end of the desktop session, where the provider has it.
  case session

  /// The one with this label, or with this object path, which begins with `/org/freedesktop/secrets/`.
  case named(String)

  /// The object of the collection that is forgotten.
  static let sessionPath = "/org/freedesktop/secrets/collection/session"

  /// Whether this is the collection that is forgotten, by whatever name.
  package var endsWithSession: Bool { self == .session || self == .named(Self.sessionPath) }
}

/// Whether the provider may ask.
public enum SecretServiceInteraction: Hashable, Sendable {
  /// Never: what would take a question throws ``KeychainError/Code/locked`` or
  /// ``KeychainError/Code/refused``.
  case denied

  /// It may show a dialog, if there is a desktop and nobody came over SSH.
  case allowed
}
