internal import FoundationEssentials
public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// The findings of a verification of a vault.
public struct VerificationReport: Hashable, Sendable {
  /// The number of items.
  public var itemCount: Int
  /// The number of items that were opened: the others are locked here, or bound to other devices.
  public var openedCount: Int
  /// The problems; empty if everything that was inspected is intact.
  public var problems: [String]

  /// The unlock state up to which items were proven and opened.
  ///
  /// Items that need more were compared only with what the device key shows of them, and may have
  /// been changed by anybody who has that key.
  public var readable: Accessibility.UnlockRequirement = .nothing

  /// Whether an unfinished write follows the newest change; the next write removes it.
  public var hasUnfinishedWrite = false

  /// Items that one of the same name with a stricter accessibility hides; the next compaction drops
  /// them.
  public var shadowed: [String] = []

  var itemsOfOtherDevices: Set<ItemID> = []

  /// The damaged items, with their names in errors.
  var damagedItems: [ItemID: String] = [:]

  var damagedPages = DamagedPages()

  /// Whether nothing is wrong.
  public var isIntact: Bool { problems.isEmpty }

  func requireIntact() throws(KeychainError) {
    guard let problem = problems.first else { return }
    throw KeychainError(
      .damaged, "the vault is not intact: \(problem)",
      recovery:
        "see all problems with \(.verify); a plain copy of the file keeps what there is")
  }
}

/// An item with its contents.
struct OpenedItem: ~Copyable {
  let credential: Credential
  /// The sealed metadata.
  let metadata: [UInt8]
  let secret: SecretBytes
}

/// Inspects each page and box, and everything that the available keys open.
struct VaultVerification {
  let contents: VaultContents
  let sealing: ItemSealing
  var progress: ((VaultProgress) -> Void)?

  /// Calls `visit` with each item that opens; damage is in the report.
  func run(
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void = { _ in }
  ) throws(KeychainError) -> VerificationReport {
    var report = VerificationReport(itemCount: 0, openedCount: 0, problems: [])
    report.readable = sealing.keys.readable
    report.hasUnfinishedWrite = contents.hasUnfinishedWrite
    let total = contents.itemCount
    _ = try problem(&report) { () throws(KeychainError) in
      _ = try contents.spine.known(contents, sealing.keys)
    }
    try contents.forEachPage(sealing.keys) { walked throws(KeychainError) in
      if let page = walked.damaged {
        report.itemCount += page.count
        report.damagedPages.note(walked)
      }
      report.shadowed += walked.shadowed.map(\.name)
      for item in walked.items {
        report.itemCount += 1
        if sealing.isOfOtherDevice(item.entry) { report.itemsOfOtherDevices.insert(item.id) }
        try check(item, &report, visit)
        let done = report.itemCount
        if done.isMultiple(of: 100) || done == total {
          progress?(VaultProgress(completed: done, total: max(done, total)))
        }
      }
    }
    report.problems += report.damagedPages.names.map { "\($0) are damaged" }
    return report
  }

  private func problem(
    _ report: inout VerificationReport, _ body: () throws(KeychainError) -> Void
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      try body()
      return false
    } catch let error where error.code == .damaged && error.underlying == nil {
      report.problems.append(error.message)
      return true
    }
  }

  private func check(
    _ item: VaultItem, _ report: inout VerificationReport,
    _ visit: (borrowing OpenedItem) throws(KeychainError) -> Void
  ) throws(KeychainError) {
    var name = item.name
    var isOpened = false
    let isDamaged = try problem(&report) { () throws(KeychainError) in
      try requirePossible(item)
      var known: (Credential, PartMetadata, Int)?
      if sealing.keys.satisfies(item.requirement), !sealing.isOfOtherDevice(item.entry) {
        let (metadata, index) = try item.metadata(sealing.keys, name: name)
        let credential = try sealing.credential(metadata, at: index, of: item.entry, name: name)
        name = "\(credential.identity) (\(item.name))"
        known = (credential, metadata, index)
      }
      let box = try item.box(in: contents)
      guard try Derivation.bytes(hashing: box) == item.entry.boxHash else {
        throw .damagedItem(name)
      }
      guard let (credential, metadata, index) = known else { return }
      try visit(
        OpenedItem(
          credential: credential, metadata: metadata.copy(at: index),
          secret: try sealing.secret(in: box, of: item.entry, name: name)))
      isOpened = true
    }
    if isDamaged { report.damagedItems[item.id] = name }
    if isOpened { report.openedCount += 1 }
  }

  private func requirePossible(_ item: VaultItem) throws(KeychainError) {
    let isPossible =
      contents.list.vaultKind == .shared
      ? !item.accessibility.isThisDeviceOnly
      : contents.list.hasPassphrase || item.accessibility != .whenPasscodeSetThisDeviceOnly
    guard !isPossible else { return }
    throw KeychainError(
      .damaged, "\(item.name) has an accessibility that this vault does not allow")
  }
}

extension VaultContents {
  /// Returns the items that match a query, and counts those that can't be inspected.
  ///
  /// A locked item counts unless its service or server differs from the query's.
  func search(
    _ query: CredentialQuery, _ sealing: ItemSealing
  ) throws(KeychainError) -> CredentialSearchResult {
    var (credentials, damaged, pages): ([Credential], [String], DamagedPages) = ([], [], .init())
    var (lockedCount, otherDeviceCount) = (0, 0)
    let matcher = try ItemMatcher(query, sealing)
    try forEachPage(sealing.keys) { walked throws(KeychainError) in
      pages.note(walked)
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
      credentials: credentials, lockedCount: lockedCount, damaged: damaged + pages.names,
      otherDeviceCount: otherDeviceCount)
  }
}

/// Compares items with a query, as far as the available keys open them.
struct ItemMatcher {
  private let query: CredentialQuery
  private let sealing: ItemSealing

  /// The number that entries have for the query's service or server.
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
    // An item whose key is available is compared by its names: its entry's service could be wrong.
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
  /// The name of a page in errors and reports, because its items can't be told apart.
  var name: String { "\(count) items from \(first.name) on" }
}
