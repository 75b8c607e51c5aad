internal import KeychainCredentials
internal import PrephirencesSystem

/// The item of an identity.
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
  /// Locks are not checked: if attributes can be read, the keyring is unlocked.
  ///
  /// `further` is another call for the item, sent at the same time; its answer is returned, too.
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

  /// Returns our item of an identity, otherwise another program's item with this name.
  ///
  /// Returns the item, or `nil` if there is none.
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
    // An unreadable item may be the right one: it must not count as missing, nor get a duplicate.
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
  /// Whether this is an internet password of another protocol, port or path than one that names its
  /// protocol.
  ///
  /// Without a protocol, a person names a host, and means whatever is there.
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
