internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainSecretService
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

struct ListCommand: StoreSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List credentials, never their secrets",
    discussion: """
      A terminal gets a table, with the store of each where there are several. A pipe gets a line \
      for each credential, with always the same eight fields separated by tabs: service or server, \
      account, access group, accessibility, modified, expires, label, and store (vault or \
      secret-service, which a collection may follow after a colon); backslash, tab and newline are \
      written \\\\, \\t and \\n. A ninth field, other, marks an item of another program, which may \
      have the same names as one stored here. \(servicesThatAreListed) Locked ones are counted on \
      standard error; if nothing can be listed because of them, the command ends with 77.

      Items of other programs that have no names of a credential are counted on standard error, \
      too. With --other-programs or --attribute they follow, in a pipe with empty names and a \
      field for each attribute at the end.

      A pattern has *, ?, [a-z] and [!a-z], as in a shell, and must match the whole account, \
      label, or service or server; put it in quotes.

      Example:
        \(keychainPath) list --service example.com --json
        \(keychainPath) list 'deploy-*'
        \(keychainPath) list --expiring-within 30d
      """,
    aliases: ["ls"])

  @Argument(
    help: "Only those with a name that matches, such as 'git*'", transform: NamePattern.init)
  var pattern: NamePattern?

  @OptionGroup(title: "Which credential") var item: ItemOptions

  @Option(
    name: .shortAndLong, parsing: .unconditional,
    help: .init("Only those of an account", valueName: "name"), completion: .accounts)
  var account: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: .init("Only those with an attribute; may be repeated", valueName: "name=value"),
    transform: AttributePair.init(parsing:))
  var attribute: [AttributePair] = []

  @Flag(help: "List every access group")
  var allGroups = false

  @OptionGroup var scope: ServiceScopeOptions
  @OptionGroup var filter: ListFilterOptions

  @Flag(help: "Also list what other programs stored under no names of a credential")
  var otherPrograms = false

  @Flag(help: "Print JSON")
  var json = false

  @OptionGroup(title: "Which store") var stores: StoreChoiceOptions
  @OptionGroup(title: "Common options") var common: CommonOptions

  func validate() throws {
    if allGroups && item.accessGroup != nil {
      throw ValidationError(UsageText.groupOrAll)
    }
    let isNamed = item.service != nil || item.server != nil
    try scope.check(isServiceNamed: isNamed)
    // Such items belong to no service, so a host's own service has none.
    if otherPrograms, !isNamed, !scope.allServices, KeychainCommandContext.current.ownService != nil
    {
      throw ValidationError(UsageText.otherProgramsOfHost)
    }
  }

  func perform(in session: Session) throws {
    let query = query
    let found = try session.locatedSearch(query)
    let result = found.result
    if result.credentials.isEmpty { try session.reportMissingVault() }
    let listed = selection(of: result.credentials, foundBy: query)
    let unlisted = try unlistedItems(of: result, in: session)
    try print(
      listed.map { ListedCredential($0, in: found.place(of: $0.identity)) }, unlisted,
      session.output)
    if listed.isEmpty, unlisted.isEmpty, result.lockedCount == 0 { reportEmptyList(query, session) }
    reportUnlisted(result, session.interface)
    hintAtKeyring(query, session)
    let isAllLocked =
      listed.isEmpty && unlisted.isEmpty && result.lockedCount > 0 && result.failures.isEmpty
      && result.damaged.isEmpty
    if result.lockedCount > 0, !isAllLocked {
      session.interface.say(Words.locked(result.lockedCount))
      session.interface.hint(
        try session.unlocking(query).commandText)
    }
    if result.otherDeviceCount > 0 {
      session.interface.say(Words.ofOtherDevices(result.otherDeviceCount))
    }
    if let failure = result.failures.first { throw failure }
    guard result.damaged.isEmpty else {
      let records = try session.builtIn?.records.all().unreadable ?? []
      guard result.damaged.allSatisfy(records.contains) else {
        throw KeychainError.damagedItems(result.damaged)
      }
      throw KeychainError.damagedRecords(
        result.damaged, hasDeviceKey: try session.vault.hasDeviceSecret())
    }
    // Some of the locked ones may match, so the list may not be empty.
    guard !isAllLocked else {
      throw KeychainError.allLocked(
        result.lockedCount, try session.unlocking(query))
    }
  }

  private var query: CredentialQuery {
    var query = item.query(account: account, attributes: CredentialAttributes(attribute))
    if allGroups { query.accessGroup = nil }
    return scope.narrow(query)
  }

  private func selection(
    of credentials: [Credential], foundBy query: CredentialQuery
  ) -> [Credential] {
    filter.selection(of: credentials).filter { credential in
      item.matchesDetails(of: credential)
        && pattern?.matches(credential, foundBy: query) ?? true
    }
  }

  /// Explains an empty list to a person; a program gets no lines.
  private func reportEmptyList(_ query: CredentialQuery, _ session: Session) {
    guard !json, session.output.stream.isTerminal else { return }
    let isNarrower = pattern != nil || !attribute.isEmpty
    session.interface.say(CredentialText.nothingListed(query, filter, isNarrower: isNarrower))
  }

  /// The services that are listed by default, for the help.
  private static var servicesThatAreListed: String {
    let context = KeychainCommandContext.current
    guard let service = context.ownService else {
      return "Credentials of every service are listed unless one is named."
    }
    return "Those of the service '\(service)' are listed unless another one or a server is named, "
      + "or --all-services is given."
  }

  private func print(
    _ listed: [ListedCredential], _ unlisted: [UnlistedItem], _ output: CommandOutput
  ) throws {
    if json {
      return try output.write(json: listed.map(\.json) + unlisted.map(\.json))
    }
    let isTerminal = output.stream.isTerminal
    if !listed.isEmpty || !isTerminal {
      try output.write(CredentialText.table(listed, forPrograms: !isTerminal))
    }
    guard !unlisted.isEmpty else { return }
    try output.write(
      isTerminal ? CredentialText.table(unlisted) : CredentialText.fields(unlisted))
  }
}

// Items of other programs without a credential's names are counted, and shown on request.
extension ListCommand {
  /// Returns the unlisted items of a search, if they should be shown.
  func unlistedItems(
    of result: CredentialSearchResult, in session: Session
  ) throws -> [UnlistedItem] {
    guard result.unlistedCount > 0, showsUnlisted, !filter.isActive else { return [] }
    return try session.stores.unlistedItems(matching: CredentialAttributes(attribute))
      .filter { pattern?.matches($0.label) ?? true }
  }

  /// Reports the number of items that are not shown.
  func reportUnlisted(_ result: CredentialSearchResult, _ interface: UserInterface) {
    // They have only a label and no expiry, so other searches cannot mean them.
    guard result.unlistedCount > 0, !showsUnlisted, pattern == nil, !filter.isActive else { return }
    interface.say(CredentialText.unlisted(result.unlistedCount))
  }

  /// Hints at the desktop keyring if it is not searched.
  func hintAtKeyring(_ query: CredentialQuery, _ session: Session) {
    guard showsUnlisted, query.service == nil, query.server == nil, session.leavesKeyringOut
    else { return }
    session.interface.hint(StoreText.keyringLeftOut)
  }

  private var showsUnlisted: Bool { otherPrograms || !attribute.isEmpty }
}

struct ListedCredential: JSONConvertible {
  let credential: Credential
  let place: StorePlace?

  init(_ credential: Credential, in place: StorePlace?) {
    self.credential = credential
    self.place = place
  }

  /// The store as in `--store`; a collection of the desktop keyring follows after a colon.
  var store: String {
    guard let place else { return "" }
    let collection = StoresJSON.collection(place)
    let isUsual = collection == nil || place == .secretService(.default)
    return place.name + (isUsual ? "" : ":\(collection ?? "")")
  }

  var json: JSONValue {
    .members(
      credential.members + [
        ("store", place?.name), ("collection", place.flatMap(StoresJSON.collection)),
      ])
  }
}
