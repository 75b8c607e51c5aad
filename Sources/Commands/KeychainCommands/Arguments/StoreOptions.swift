internal import ArgumentParser
internal import KeychainSecretService
internal import KeychainStores
internal import PrephirencesCommandLine

/// The options that choose where credentials are kept.
struct StoreOptions: QuickArguments {
  @Option(
    help: .init(
      "Where credentials are kept: vault, secret-service (the desktop keyring), or auto, each "
        + "service's own",
      valueName: "kind"),
    completion: .list(StoreChoice.allCases.map(\.rawValue)), transform: StoreOptions.choice)
  var store: StoreChoice?

  @Option(
    parsing: .unconditional,
    help: .init("The collection of the desktop keyring that has this label", valueName: "name"))
  var collection: String?

  @Flag(help: "Use the desktop keyring's collection that is forgotten with the session")
  var sessionOnly = false

  mutating func read(_ line: inout QuickLine) throws {
    store = try line.option("store", as: StoreOptions.choice)
    collection = try line.option("collection")
    sessionOnly = try line.flag("session-only")
  }

  func validate() throws {
    if collection?.isEmpty == true {
      throw ValidationError(UsageText.emptyCollection)
    }
    if collection != nil && sessionOnly {
      throw ValidationError(UsageText.oneCollection)
    }
    if namesCollection, store != nil, store != .secretService {
      throw ValidationError(UsageText.collectionOfKeyring)
    }
  }

  private var namesCollection: Bool { collection != nil || sessionOnly }

  /// The store that the options choose; a collection belongs to the desktop keyring.
  var choice: StoreChoice? { store ?? (namesCollection ? .secretService : nil) }

  /// The collection for new credentials, or for all if the desktop keyring was chosen.
  var secretServiceCollection: SecretServiceStore.Collection {
    collection.map { .named($0) } ?? (sessionOnly ? .session : .default)
  }

  static func choice(_ text: String) throws -> StoreChoice {
    guard let choice = StoreChoice(rawValue: text) else {
      throw ValidationError(UsageText.store)
    }
    return choice
  }
}
