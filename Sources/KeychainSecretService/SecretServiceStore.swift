internal import Foundation
public import KeychainCredentials
internal import KeychainSecrets

/// The desktop keyring: a collection of the Secret Service, such as gnome-keyring's or KeePassXC's.
///
/// ```swift
/// let store = SecretServiceStore()
/// let identity = CredentialIdentity.genericPassword(service: "mytool", account: "me")
/// try store.store(Credential(identity), secret: SecretBytes(copying: "hunter2"))
/// ```
///
/// Items of other programs are found, too, under the names that those programs gave them; what is stored
/// becomes an item of its own beside them, and is preferred. What has no such names is found by its
/// attributes: see ``unlistedItems(matching:)``. Every program of the session can read every item: the keyring
/// protects what lies on the disk, and from other users.
///
/// Handles are cheap and can be used from all threads. The process has one connection to each bus, made by
/// the first call, and made anew after the bus or the provider ended.
///
/// Whatever the provider answers is checked: a reply of another type than the Secret Service's specification
/// says is an error (``KeychainError/Code/inputOutput``), as is a list of more than ``maximumItemCount`` items
/// (``KeychainError/Code/refused``), and no secret is sent under a key that others can compute
/// (``KeychainError/Code/refused``).
///
/// A provider changes the secret and the attributes of an item one after the other, and has no
/// check-and-set. All stores of the user therefore take turns; a program that does not know the lock can
/// change an item between the check and the change.
public final class SecretServiceStore: CredentialStore {
  /// Where items are kept, and how the provider may behave.
  public typealias Configuration = SecretServiceConfiguration

  /// A collection of the Secret Service: a keyring, database or wallet.
  public typealias Collection = SecretServiceCollection

  /// Whether the provider may ask.
  public typealias Interaction = SecretServiceInteraction

  /// Where items are kept, and how the provider may behave.
  public let configuration: Configuration

  /// The most items that a call reads: of more, it throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``, whether a search finds them or the collection has them.
  public static let maximumItemCount = BusValue.maximumElementCount

  let watch: ChangeWatch
  private let question: PostponedQuestion?

  /// Makes a handle; nothing is connected before the first use.
  ///
  /// - Parameter configuration: Where items are kept, and how the provider may behave.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    watch = ChangeWatch(configuration)
    question = nil
  }

  /// Makes a second handle that shares its observers with another, and puts its questions off.
  private init(_ store: SecretServiceStore, _ question: PostponedQuestion) {
    configuration = store.configuration
    watch = store.watch
    self.question = question
  }

  /// Runs an operation on the connection of the process.
  func run<Result: ~Copyable>(
    _ body: (ServiceOperation) throws(KeychainError) -> Result
  ) throws(KeychainError) -> Result {
    try ServiceOperation.run(configuration, question, body)
  }
}

extension SecretServiceStore: PostponingStore {
  /// Returns this store for operations that neither unlock anything nor make the collection by a question;
  /// see the protocol.
  ///
  /// The one question that is part of a change itself stays: some providers ask before they remove an item.
  /// If the question forbids dialogs, such a change throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``.
  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    SecretServiceStore(self, question)
  }
}
