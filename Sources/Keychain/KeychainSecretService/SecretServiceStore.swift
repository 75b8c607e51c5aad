internal import FoundationEssentials
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
/// Items of other programs are found, too, by the names that those programs gave them. Storing such
/// a credential adds an item next to the existing one, and takes precedence. Items without such
/// names are found by their attributes: see ``unlistedItems(matching:)``. Every program of the
/// session can read every item: the keyring protects data on the disk, and from other users.
///
/// Handles are cheap and can be used from all threads. The process has one connection to each bus,
/// which the first call opens, and which is opened again after the bus or the provider has ended.
///
/// All answers of the provider are checked: a reply whose type differs from the Secret Service's
/// specification is an error (``KeychainError/Code/inputOutput``), as is a list of more than
/// ``maximumItemCount`` items (``KeychainError/Code/refused``) or a reply that is too large
/// (``KeychainError/Code/tooLarge``), and no secret is sent under a key that others can compute
/// (``KeychainError/Code/refused``).
///
/// A provider changes the secret and the attributes of an item one after the other, and has no
/// conditional writes. All stores of the user therefore share a writer lock; a program that does
/// not use the lock can change an item between the check and the change.
public final class SecretServiceStore: CredentialStore {
  /// Which collection to use, and how the provider may behave.
  public typealias Configuration = SecretServiceConfiguration

  /// A collection of the Secret Service: a keyring, database or wallet.
  public typealias Collection = SecretServiceCollection

  /// Whether the provider may ask a person.
  public typealias Interaction = SecretServiceInteraction

  /// Which collection to use, and how the provider may behave.
  public let configuration: Configuration

  /// The maximum number of items that a call reads.
  ///
  /// If a search finds more, or the collection has more, it throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``.
  public static let maximumItemCount = BusValue.maximumElementCount

  let watch: ChangeWatch
  private let question: PostponedQuestion?

  /// Creates a handle.
  ///
  /// Nothing is connected before the first use.
  ///
  /// - Parameter configuration: Which collection to use, and how the provider may behave.
  public init(configuration: Configuration = Configuration()) {
    self.configuration = configuration
    watch = ChangeWatch(configuration)
    question = nil
  }

  /// Creates a second handle that shares its observers with another, and postpones its questions.
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

extension SecretServiceStore {
  /// Returns this store for operations that ask nothing to unlock or to create the collection; see
  /// the protocol.
  ///
  /// A question that is part of a change is still asked: some providers ask before they remove an
  /// item. If the question forbids dialogs, such a change throws ``KeychainError`` with
  /// ``KeychainError/Code/refused``.
  package func postponing(_ question: PostponedQuestion) -> any CredentialStore {
    SecretServiceStore(self, question)
  }
}
