internal import Foundation
internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat

/// An item with what it holds.
struct OpenedItem: ~Copyable {
  let credential: Credential
  /// As they are sealed.
  let metadata: SecretBytes
  let secret: SecretBytes
}

/// Looks at everything that a vault has: each page and box, and what the keys at hand open.
///
/// Head, list, base, log and proofs were verified when the contents were read.
struct VaultVerification {
  let contents: VaultContents
  let sealing: ItemSealing
  var progress: ((VaultProgress) -> Void)?

  /// Calls `visit` with each item that opens.
  ///
  /// - Throws: What `visit` throws, and errors that are not damage; damage is in the report.
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
    try contents.forEachItem(sealing.keys) { visited throws(KeychainError) in
      switch visited {
      case .damagedPage(let page):
        report.itemCount += page.count
        report.problems.append("\(page.name) are damaged")
        report.damagedPages[page.first] = page.name
      case .shadowed(let item): report.shadowed.append(item.name)
      case .item(let item):
        report.itemCount += 1
        if sealing.isOfOtherDevice(item.entry) { report.itemsOfOtherDevices.insert(item.id) }
        try check(item, &report, visit)
      }
      let done = report.itemCount
      if done.isMultiple(of: 100) || done == total {
        progress?(VaultProgress(completed: done, total: max(done, total)))
      }
    }
    return report
  }

  private func problem(
    _ report: inout VerificationReport, _ body: () throws(KeychainError) -> Void
  ) throws(KeychainError) -> Bool {
    do throws(KeychainError) {
      try body()
      return false
    } catch {
      guard error.code == .damaged, error.underlying == nil else { throw error }
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
      guard try Derivation.hash(box, count: 32) == item.entry.boxHash else {
        throw .damagedItem(name)
      }
      guard let (credential, metadata, index) = known else { return }
      try visit(
        OpenedItem(
          credential: credential, metadata: try metadata.copy(at: index).copy(),
          secret: try sealing.secret(in: box, of: item.entry, name: name)))
      isOpened = true
    }
    if isDamaged { report.damagedItems[item.id] = name }
    if isOpened { report.openedCount += 1 }
  }

  private func requirePossible(_ item: VaultItem) throws(KeychainError) {
    let members = contents.list
    let needsPassphrase = item.accessibility == .whenPasscodeSetThisDeviceOnly
    let isPossible =
      members.vaultKind == .shared
      ? !item.accessibility.isThisDeviceOnly : members.hasPassphrase || !needsPassphrase
    guard !isPossible else { return }
    throw KeychainError(
      .damaged, "\(item.name) has an accessibility that this vault does not allow")
  }
}

extension VaultContents {
  /// About as many items as there are: those that a transaction replaced count twice.
  var itemCount: Int {
    index.pages.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
      + logged.reduce(0) { $0 + $1.all.values.count { $0.item != nil } }
  }

  /// The items by class, as far as T0 tells; pages that are damaged count as unknown.
  func itemCounts(
    _ keys: TierKeys
  ) throws(KeychainError) -> (known: [Accessibility: Int], damaged: Int) {
    var (known, damaged): ([Accessibility: Int], Int) = ([:], 0)
    try forEachItem(keys) { visited throws(KeychainError) in
      switch visited {
      case .item(let item): known[item.accessibility, default: 0] += 1
      case .damagedPage(let page): damaged += page.count
      case .shadowed: break
      }
    }
    return (known, damaged)
  }
}
