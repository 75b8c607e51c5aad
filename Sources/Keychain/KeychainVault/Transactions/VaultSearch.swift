internal import FoundationEssentials
internal import KeychainCredentials
internal import KeychainVaultFormat

extension VaultContents {
  /// Finds what matches a query, and counts what can't be looked at.
  ///
  /// What is locked counts unless its service or server is another one than the query names.
  func search(
    _ query: CredentialQuery, _ sealing: ItemSealing
  ) throws(KeychainError) -> CredentialSearchResult {
    var (credentials, damaged): ([Credential], [String]) = ([], [])
    var (lockedCount, otherDeviceCount) = (0, 0)
    let matcher = try ItemMatcher(query, sealing)
    try forEachPage(sealing.keys) { walked throws(KeychainError) in
      if let page = walked.damaged { damaged.append(page.name) }
      for item in walked.items {
        switch try matcher.match(item) {
        case .nothing: break
        case .locked: lockedCount += 1
        case .ofOtherDevice: otherDeviceCount += 1
        case .damaged: damaged.append(item.name)
        case .credential(let credential): credentials.append(credential)
        }
      }
    }
    return CredentialSearchResult(
      credentials: credentials, lockedCount: lockedCount, damaged: damaged,
      otherDeviceCount: otherDeviceCount)
  }
}

/// Compares items with a query, as far as the keys at hand open them.
struct ItemMatcher {
  private let query: CredentialQuery
  private let sealing: ItemSealing

  /// What entries have for the service or server that the query names.
  private let service: UInt64?

  enum Match {
    case nothing
    case credential(Credential)

    // It may match.
    case locked
    case ofOtherDevice
    case damaged
  }

  init(_ query: CredentialQuery, _ sealing: ItemSealing) throws(KeychainError) {
    self.query = query
    self.sealing = sealing
    let pair = query.pairs.first {
      $0.name == SearchablePair.service || $0.name == SearchablePair.server
    }
    service = try pair.map { pair throws(KeychainError) in try sealing.service(pair.value) }
  }

  func match(_ item: VaultItem) throws(KeychainError) -> Match {
    // Whose key is at hand is searched by its names: what its entry says of the service could be wrong.
    let isPossible = service.map { $0 == item.entry.service } ?? true
    guard sealing.keys.satisfies(item.requirement) else { return isPossible ? .locked : .nothing }
    guard !sealing.isOfOtherDevice(item.entry) else {
      return isPossible ? .ofOtherDevice : .nothing
    }
    do throws(KeychainError) {
      let (metadata, index) = try item.metadata(sealing.keys, name: item.name)
      guard let credential = metadata.credential(at: index, of: item.entry) else { return .damaged }
      guard query.matches(credential) else { return .nothing }
      return try sealing.isNamed(item.entry, credential) ? .credential(credential) : .damaged
    } catch let error where error.code == .damaged {
      return .damaged
    }
  }
}

extension VaultIndex.Page {
  /// What an error or a report calls a page whose items can't be told apart.
  var name: String { "\(count) items from \(first.name) on" }
}
