internal import KeychainCredentials
internal import KeychainStores
internal import KeychainVault
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The names that a shell can offer for a command line.
///
/// Nothing is unlocked, asked, started or reported: names that cannot be read in this way, or take
/// too long, are not offered.
struct NameCompletions {
  let line: CompletionLine
  let context: KeychainCommandContext

  /// The services that have credentials, in the given access group if there is one.
  var services: [String] {
    Self.distinct(found(CredentialQuery(accessGroup: group)).compactMap(Self.service(of:)))
  }

  /// The servers that have internet passwords, in the given access group if there is one.
  var servers: [String] {
    let names = found(CredentialQuery(accessGroup: group)).compactMap { identity -> String? in
      guard case .internetPassword(let password) = identity.kind else { return nil }
      return password.server
    }
    return Self.distinct(names)
  }

  /// The access groups, except the unnamed one; those of the given service or server if there is
  /// one.
  var accessGroups: [String] {
    let query = CredentialQuery(service: service, server: server)
    return Self.distinct(found(query).map(\.accessGroup).filter { !$0.isEmpty })
  }

  /// The accounts of the given service or server, otherwise of the default service.
  ///
  /// If no account of the default service begins with what was typed, those of every service.
  var accounts: [String] {
    let group = line.has("--all-groups") ? nil : group ?? ""
    let isOfAll = line.has("--all-services")
    let query = CredentialQuery(accessGroup: group, service: service, server: server)
    // A host that searches only its own service does not offer others.
    let all = found(isOfAll ? query : context.narrow(query))
    guard service == nil, server == nil, !isOfAll else { return Self.distinct(all.map(\.account)) }
    let ours = all.filter { identity in
      Self.service(of: identity)?.hasSameBytes(as: context.defaultService) ?? false
    }
    let isEnough = ours.contains { $0.account.utf8.starts(with: line.prefix.utf8) }
    return Self.distinct((isEnough ? ours : all).map(\.account))
  }

  /// References to the secrets; a host that searches only its own service does not offer others.
  var references: [String] {
    let all = found(context.narrow(CredentialQuery())).map { CredentialReference($0) }
    // Some names, such as one with a control character, have no reference.
    return Self.distinct(
      all.filter { (try? CredentialReference($0.description)) == $0 }.map(\.description))
  }

  /// Returns the numbers of the matching slots of the vault.
  func slotNumbers(_ isMeant: (VaultSlot) -> Bool) -> [String] {
    let slots = (try? stores.vault.slots()) ?? []
    return slots.filter(isMeant).map { String($0.number) }
  }

  private var group: String? { line.value(of: "--access-group", "--group", "-g") }
  private var service: String? { line.value(of: "--service", "-s") }
  private var server: String? { line.value(of: "--server") }

  private func found(_ query: CredentialQuery) -> [CredentialIdentity] {
    places.flatMap { place -> [CredentialIdentity] in
      (try? stores.store(at: place).search(query))?.credentials.map(\.identity) ?? []
    }
  }

  private static func service(of identity: CredentialIdentity) -> String? {
    guard case .genericPassword(let service, _) = identity.kind else { return nil }
    return service
  }

  private static func distinct(_ names: [String]) -> [String] {
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return sorted.enumerated().filter { index, name in
      index == 0 || !name.hasSameBytes(as: sorted[index - 1])
    }
    .map(\.element)
  }
}
