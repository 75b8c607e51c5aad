internal import KeychainCredentials
internal import PrephirencesSystem

/// Finds items in the store's collection.
struct ItemFinder {
  let operation: ServiceOperation
  let collection: String

  /// Finds the collection, which is unlocked when its items are needed.
  init(_ operation: ServiceOperation) throws(KeychainError) {
    self.operation = operation
    guard let path = try operation.collectionPath() else { throw operation.noCollection }
    collection = path
  }

  init(operation: ServiceOperation, collection: String) {
    self.operation = operation
    self.collection = collection
  }

  var lockedQuestion: BusCall {
    operation.getProperty(collection, ServiceOperation.collectionInterface, "Locked", "b")
  }

  func search(_ attributes: CredentialAttributes) -> BusCall {
    operation.call(
      collection, ServiceOperation.collectionInterface, "SearchItems", [.stringPairs(attributes)],
      reply: .values("ao"))
  }

  /// Unlocks the collection if it is locked.
  ///
  /// Locked providers show no items (KeePassXC), or hide their attributes (gnome-keyring), so no
  /// item can be considered missing.
  func unlockIfNeeded() throws(KeychainError) {
    if try isLocked(operation.results(of: [lockedQuestion])) { try operation.unlock(collection) }
  }

  /// Returns the paths of the items that match each set of attributes.
  func paths(_ searches: [CredentialAttributes]) throws(KeychainError) -> [[String]] {
    let calls = [lockedQuestion] + searches.map { search($0) }
    var answers = operation.results(of: calls)
    if try isLocked(answers) {
      try operation.unlock(collection)
      answers = operation.results(of: calls)
      guard try !isLocked(answers) else { throw .lockedKeyring }
    }
    return try answers.dropFirst().map { answer throws(KeychainError) in
      try value(answer).elements.first?.texts ?? []
    }
  }

  /// Reads items, without those that were removed meanwhile.
  ///
  /// For our items, one property is enough; providers return the others slowly.
  func items(_ paths: [String]) throws(KeychainError) -> [ServiceItem] {
    guard paths.count <= BusValue.maximumElementCount else { throw .tooManyItems }
    let items = try read(paths, attributes(of:)) { path, answer in
      ServiceItem(path: path, attributes: answer)
    }
    let others = try read(
      items.filter { $0.ours == nil }.map(\.path),
      operation.getProperties(ofItem:),
      { path, answer in ServiceItem(path: path, properties: answer) })
    return items.filter { $0.ours != nil } + others
  }

  func attributes(of path: String) -> BusCall {
    operation.getProperty(path, ServiceOperation.itemInterface, "Attributes", "a{ss}")
  }

  private func read(
    _ paths: [String], _ call: (String) -> BusCall, _ item: (String, BusValue) -> ServiceItem
  ) throws(KeychainError) -> [ServiceItem] {
    let answers = try operation.manyResults(of: paths.map(call))
    var items: [ServiceItem] = []
    for (path, answer) in zip(paths, answers) {
      if case .failure(let error) = answer, error.isMissingObject { continue }
      items.append(item(path, try value(answer).elements.first ?? .other))
    }
    return items
  }

  /// Returns whether the collection is locked, from the first of some answers.
  func isLocked(_ answers: [BusAnswer]) throws(KeychainError) -> Bool {
    guard let first = answers.first else { return true }
    if case .failure(let error) = first, error.isMissingObject { throw operation.noCollection }
    return try value(first).elements.first?.bool ?? true
  }

  func value(_ answer: BusAnswer) throws(KeychainError) -> BusValue {
    try translated(bus: answer.get())
  }
}

struct FoundItem {
  let item: ServiceItem

  /// The credential, under the identity of the search.
  let credential: Credential

  var isOurs: Bool { item.ours != nil }
}

extension ItemFinder {
  /// Returns our item of an identity; `nil` if there is none.
  func ownItem(_ identity: CredentialIdentity) throws(KeychainError) -> FoundItem? {
    let paths = try paths([ItemAttributes.search(for: identity)])
    return try own(identity, among: items(paths.first ?? []))
  }

  /// Returns our item of an identity with the fewest messages; `nil` if they are not enough to find
  /// it.
  ///
  /// It does not check locks: if attributes can be read, the keyring is unlocked. `further` is
  /// another call for the item, sent at the same time; its answer is returned, too.
  func ownItemAtOnce(
    _ identity: CredentialIdentity,
    _ further: (String) throws(KeychainError) -> BusCall? = { _ in nil }
  ) throws(KeychainError) -> (FoundItem, BusAnswer?)? {
    let search = operation.results(of: [search(ItemAttributes.search(for: identity))])
    guard let paths = try? search.first?.get().elements.first?.texts, paths.count == 1,
      let path = paths.first
    else { return nil }
    let question = try further(path)
    let answers = operation.results(of: [attributes(of: path)] + (question.map { [$0] } ?? []))
    guard let attributes = try? answers.first?.get().elements.first,
      let found = try own(identity, among: [ServiceItem(path: path, attributes: attributes)])
    else { return nil }
    return (found, answers.dropFirst().first)
  }

  /// Returns our item of an identity, or else another program's item with this name; `nil` if there
  /// is none.
  func item(
    _ identity: CredentialIdentity, alsoByAliases: Bool = true
  ) throws(KeychainError) -> FoundItem? {
    let paths = try paths([ItemAttributes.search(for: identity)])
    let items = try items(paths.first ?? [])
    if let own = try own(identity, among: items) { return own }
    // Other programs do not use groups.
    guard identity.accessGroup.isEmpty else { return nil }
    let named = items.filter { $0.foreign?.identity == identity }
    guard alsoByAliases else { return try single(named, identity) }
    // The names may be in other attributes than those of the search.
    let known = Set(named.map(\.path))
    let others = try named + aliases(of: identity).filter { !known.contains($0.path) }
    let exact = others.filter { $0.foreign?.identity == identity }
    return try single(exact.isEmpty ? others : exact, identity)
  }

  private func own(
    _ identity: CredentialIdentity, among items: [ServiceItem]
  ) throws(KeychainError) -> FoundItem? {
    let own = items.filter { $0.ours?.identity == identity }
    guard own.isEmpty else { return try single(own, identity) }
    let names = ItemAttributes.names(of: identity)
    let group = StoredText.encode(identity.accessGroup)
    // An unreadable item may be the right one: it must not count as missing, or get a duplicate.
    for item in items
    where item.attributes.contains(names)
      && item.attributes[ItemAttributes.accessGroup]?.hasSameBytes(as: group) ?? true
    {
      switch item.contents {
      case .damaged: throw .damagedItem(item)
      case .newerFormat:
        throw KeychainError(
          .unsupportedFormat, "\(item.name) was written by a newer release",
          recovery: "update this program")
      case .ours, .foreign, .unnamed: break
      }
    }
    return nil
  }

  private func single(
    _ items: [ServiceItem], _ identity: CredentialIdentity
  ) throws(KeychainError) -> FoundItem? {
    guard items.count < 2 else {
      throw KeychainError(
        .ambiguous,
        "\(items.count) items of the desktop keyring are \(identity): "
          + items.map(\.name).joined(separator: "; "),
        recovery: "remove all but one at the desktop, or store the credential here")
    }
    guard let item = items.first, var credential = item.credential else { return nil }
    credential.identity = identity
    return FoundItem(item: item, credential: credential)
  }

  /// Returns other programs' items that use other attributes for an identity's names.
  private func aliases(of identity: CredentialIdentity) throws(KeychainError) -> [ServiceItem] {
    let service =
      switch identity.kind {
      case .genericPassword(let service, _): service
      case .internetPassword(let password): password.server
      }
    guard StoredText.isKeptByEveryone(service), !service.isEmpty else { return [] }
    let searches = ForeignItem.serviceNames.map {
      CredentialAttributes(dictionaryLiteral: ($0, service))
    }
    var seen: Set<String> = []
    let paths = try paths(searches).joined().filter { seen.insert($0).inserted }
    return try items(paths).filter { item in
      guard let foreign = item.foreign, !foreign.identity.isElsewhere(than: identity) else {
        return false
      }
      return ForeignItem.isAlias(item.attributes, of: identity)
    }
  }
}

extension CredentialIdentity {
  /// Whether this is an internet password of another protocol, port or path than `other`, if
  /// `other` has a protocol.
  ///
  /// Without a protocol, a person names a host, and means every password for it.
  fileprivate func isElsewhere(than other: Self) -> Bool {
    guard case .internetPassword(let mine) = kind, case .internetPassword(let other) = other.kind,
      !other.protocol.isEmpty
    else { return false }
    return !mine.protocol.hasSameBytes(as: other.protocol) || mine.port != other.port
      || !mine.path.hasSameBytes(as: other.path)
  }
}

extension KeychainError {
  /// The error if another program's item would be changed or removed.
  static func itemOfOtherProgram(_ found: FoundItem, _ recovery: Recovery) -> Self {
    let schema = found.item.attributes[ItemAttributes.schemaName].map { " of the schema \($0)" }
    return Self(
      .refused,
      "\(found.credential.identity) is another program's item of the desktop keyring: "
        + found.item.name + (schema ?? ""),
      recovery: recovery)
  }

  static func damagedItem(_ item: ServiceItem) -> Self {
    Self(
      .damaged, "\(item.name) of the desktop keyring is damaged or was changed by another program",
      recovery: "remove it at the desktop, and store the credential again")
  }
}

extension ItemFinder {
  func result(of query: CredentialQuery) throws(KeychainError) -> CredentialSearchResult {
    guard query.hasNoNames else { return CredentialSearchResult(items: try items(matching: query)) }
    let found = try items(foundBy: query)
    var result = CredentialSearchResult(
      items: found.filter { $0.isUnreadable || $0.matches(query) })
    result.unlistedCount = found.count { $0.isUnlisted(by: query) }
    return result
  }

  /// Returns the items that match a query, and those that may match but cannot be read.
  func items(matching query: CredentialQuery) throws(KeychainError) -> [ServiceItem] {
    let found = try items(foundBy: query).filter { $0.isUnreadable || $0.matches(query) }
    guard found.allSatisfy(\.isUnreadable), query.service ?? query.server != nil,
      query.accessGroup?.isEmpty ?? true
    else { return found }
    // KeePassXC's own entries and some programs' items use other attributes for the service.
    var broad = query
    broad.service = nil
    broad.server = nil
    return try found + items(foundBy: broad).filter { $0.matches(query) }
  }

  func items(foundBy query: CredentialQuery) throws(KeychainError) -> [ServiceItem] {
    let attributes = ItemAttributes.search(for: query)
    guard attributes.isEmpty else { return try items(paths([attributes]).first ?? []) }
    try unlockIfNeeded()
    return try items(allPaths())
  }

  /// Returns all items of the collection; in KeePassXC, a search without conditions finds none.
  func allPaths() throws(KeychainError) -> [String] {
    let answer = try operation.answer(
      to: operation.getProperty(collection, ServiceOperation.collectionInterface, "Items", "ao"))
    return answer.elements.first?.texts ?? []
  }
}

extension ServiceItem {
  fileprivate func matches(_ query: CredentialQuery) -> Bool {
    credential.map(query.matches) ?? false
  }

  /// Returns whether another program's item has the attributes of the query, but no matching name.
  func isUnlisted(by query: CredentialQuery) -> Bool {
    ours == nil && !isUnreadable && attributes.contains(query.attributes) && !matches(query)
  }

  var isUnreadable: Bool {
    switch contents {
    case .damaged, .newerFormat: true
    case .ours, .foreign, .unnamed: false
    }
  }
}

extension CredentialQuery {
  /// Whether the query has only attributes, and includes the group of other programs' items.
  var hasNoNames: Bool {
    accessGroup?.isEmpty ?? true
      && [service, server, self.protocol, path, account].allSatisfy { $0 == nil } && port == nil
  }
}

extension ItemFinder {
  static func creating(_ operation: ServiceOperation) throws(KeychainError) -> ItemFinder {
    if let path = try operation.collectionPath() {
      let finder = ItemFinder(operation: operation, collection: path)
      do throws(KeychainError) {
        try finder.unlockIfNeeded()
        return finder
      } catch { guard error == operation.noCollection else { throw error } }
    }
    try operation.createCollection()
    return try ItemFinder(operation)
  }
}

extension ServiceOperation {
  /// Creates the collection, if the provider can do that without asking, or may ask.
  fileprivate func createCollection() throws(KeychainError) {
    let label: String
    switch configuration.collection {
    case .default: label = "Default keyring"
    case .session: throw noCollection
    case .named(let name) where ServiceOperation.isPath(name): throw noCollection
    case .named(let name): label = name
    }
    let answer = try answer(
      to: service(
        "CreateCollection",
        [
          .properties([(Self.collectionInterface + ".Label", .string(label))]),
          .string(configuration.collection == .default ? "default" : ""),
        ], reply: .values("oo"))
    ).elements
    guard answer.count == 2, let prompt = answer[1].text else { throw noCollection }
    guard prompt != "/" else { return }
    try run(
      prompt: prompt,
      .lasting { operation throws(KeychainError) in _ = try ItemFinder.creating(operation) },
      ifDenied: noCollection)
  }
}
