internal import KeychainCredentials

/// The item that an identity means.
struct FoundItem {
  let item: ServiceItem

  /// The credential, under the identity that was asked for.
  let credential: Credential

  var isOurs: Bool { item.ours != nil }
}

extension ItemFinder {
  /// Returns our item of an identity; `nil` if there is none.
  func ownItem(_ identity: CredentialIdentity) throws(KeychainError) -> FoundItem? {
    let paths = try paths([ItemAttributes.search(for: identity)])
    return try own(identity, among: items(paths.first ?? []))
  }

  /// Returns our item of an identity by the fewest messages; `nil` if these do not suffice to tell.
  ///
  /// Nothing is asked about locks: attributes that can be read are those of an unlocked keyring.
  ///
  /// `further` is what else to ask of the item at once; the answer to it is returned, too.
  func ownItemAtOnce(
    _ identity: CredentialIdentity,
    _ further: (String) throws(KeychainError) -> BusCall? = { _ in nil }
  ) throws(KeychainError) -> (FoundItem, Result<BusValue, BusError>?)? {
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

  /// Returns our item of an identity, else another program's that has this name.
  ///
  /// - Parameters:
  ///   - identity: What names the item.
  ///   - alsoByAliases: Whether another program's item is also found by names that lists do not show.
  /// - Returns: The item, or `nil` if there is none.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/ambiguous`` if several have it.
  func item(
    _ identity: CredentialIdentity, alsoByAliases: Bool = true
  ) throws(KeychainError) -> FoundItem? {
    let paths = try paths([ItemAttributes.search(for: identity)])
    let items = try items(paths.first ?? [])
    if let own = try own(identity, among: items) { return own }
    // Other programs know no groups.
    guard identity.accessGroup.isEmpty else { return nil }
    let named = items.filter { $0.foreign?.identity == identity }
    if let found = try single(named, identity) { return found }
    guard alsoByAliases else { return nil }
    return try single(aliases(of: identity), identity)
  }

  private func own(
    _ identity: CredentialIdentity, among items: [ServiceItem]
  ) throws(KeychainError) -> FoundItem? {
    let own = items.filter { $0.ours?.identity == identity }
    guard own.isEmpty else { return try single(own, identity) }
    let names = ItemAttributes.names(of: identity)
    let group = StoredText.encode(identity.accessGroup)
    // What cannot be read may be the one: it must neither count as absent nor get a twin.
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

  /// Other programs' items that give an identity's names to attributes of other names.
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
      item.foreign != nil && ForeignItem.isAlias(item.attributes, of: identity)
    }
  }
}

extension KeychainError {
  static func damagedItem(_ item: ServiceItem) -> Self {
    Self(
      .damaged, "\(item.name) of the desktop keyring is damaged or was changed by another program",
      recovery: "remove it at the desktop, and store the credential again")
  }
}
