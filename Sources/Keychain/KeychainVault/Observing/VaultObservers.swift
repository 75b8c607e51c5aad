internal import KeychainCredentials
internal import KeychainVaultFormat
internal import PrephirencesSystem
internal import SystemPackage

/// Notifies the observers of a handle about changes by the handle itself, other handles and
/// processes.
///
/// While there are observers, one thread waits for the kernel's notification that the vault's file
/// may have changed. If the kernel gives none, the next own changes and observers try again, and
/// missed changes are reported then.
final class VaultObservers: Sendable {
  private enum Watching {
    case nobody
    case running(FileWatch)

    /// The kernel gave no notifications at this time.
    case impossible(since: ContinuousClock.Instant)
  }

  private let scanner: VaultChangeScanner
  private let file: VaultFile
  private let notice: (@Sendable (Notice) -> Void)?
  private let observers = CredentialObservers()
  private let observersOfReadability = CredentialObservers()
  private let watching = PosixMutex<Watching>(.nobody)

  init(_ configuration: VaultConfiguration, file: VaultFile, unlocker: Unlocker) {
    scanner = VaultChangeScanner(
      file: file, unlocker: unlocker, timeout: configuration.deadline,
      whenReadabilityChanges: { [observersOfReadability] in
        observersOfReadability.notify(CredentialChange(nil, .updated))
      })
    self.file = file
    notice = configuration.notice
  }

  func observe(
    _ observer: @escaping @Sendable (CredentialChange) -> Void,
    whenReadabilityChanges: (@Sendable () -> Void)? = nil
  ) -> CredentialObservation {
    let ofReadability = whenReadabilityChanges.map { report in
      observersOfReadability.add { _ in report() }
    }
    let observation = observers.add(observer)
    update()
    // The observation outlives the handle, because others still change the vault.
    return CredentialObservation { [self] in
      observation.cancel()
      ofReadability?.cancel()
      update()
    }
  }

  /// Whether there are observers, which the kernel notifies.
  var isWatching: Bool { watching.withLock { if case .running = $0 { true } else { false } } }

  /// Reports a change that the handle itself made.
  func notify(_ change: CredentialChange) {
    observers.notify(change)
    mend()
  }

  /// Begins or ends watching, depending on whether there are observers.
  private func update() {
    let failure = watching.withLock { watching -> Errno? in
      switch (watching, observers.isEmpty) {
      case (.nobody, false):
        scanner.begin()
        return start(&watching)
      case (.running, true), (.impossible, true): stop(&watching)
      default: break
      }
      return nil
    }
    if let failure { reportUnavailable(failure) } else { mend() }
  }

  /// Tries to watch again if that was impossible, which was reported then.
  private func mend() {
    watching.withLock { watching in
      guard case .impossible(let last) = watching, last.duration(to: .now) >= .seconds(1) else {
        return
      }
      _ = start(&watching)
    }
  }

  private func start(_ watching: inout Watching) -> Errno? {
    do throws(Errno) {
      // A long-running writer may keep the file open.
      let watch = try FileWatch(noticesEachWrite: true) { [file] in try? file.path().path }
      do throws(Errno) {
        try DetachedThread.start(named: "vault-observer") { [self] in wait(on: watch) }
      } catch {
        watch.close()
        throw error
      }
      watching = .running(watch)
      return nil
    } catch {
      watching = .impossible(since: .now)
      return error
    }
  }

  private func stop(_ watching: inout Watching) {
    if case .running(let watch) = watching { watch.cancel() }
    watching = .nobody
    scanner.end()
  }

  private func wait(on watch: FileWatch) {
    defer { watch.close() }
    var hasWorked = false
    while true {
      // The first scan finds changes from before the kernel's notifications.
      let changes = scanner.changes()
      for change in changes ?? [] { observers.notify(change) }
      switch watch.wait(changes == nil ? 200 : -1) {
      case .changed: hasWorked = true
      case .ended: return
      case .failed(let error): return didFail(watch, error, startsAgain: hasWorked)
      }
    }
  }

  private func didFail(_ watch: FileWatch, _ error: Errno, startsAgain: Bool) {
    let failure = watching.withLock { watching -> Errno? in
      guard case .running(let current) = watching, current === watch else { return nil }
      // A thread that fails at once would fail again and again.
      guard startsAgain else {
        watching = .impossible(since: .now)
        return error
      }
      return start(&watching)
    }
    if let failure { reportUnavailable(failure) }
  }

  private func reportUnavailable(_ error: Errno) {
    // From now on, observers must read the vault themselves.
    observersOfReadability.notify(CredentialChange(nil, .updated))
    notice?(
      Notice(
        kind: .observationUnavailable,
        message: "changes that other processes make to the vault are not noticed: "
          + "the kernel's notifications say \(error.words)"))
  }
}

/// Finds changes of a vault since the last scan; it does not ask, unlock or extend the unlocked
/// time.
final class VaultChangeScanner: Sendable {
  private struct Known {
    /// The file's status at the last scan that understood or refused the file.
    var status: DiskStatus?

    /// The vault at the last scan; `nil` if there was none.
    var vault: ObservedVault?

    /// Whether a scan has happened: before it, no changes are known.
    var isBegun = false

    /// The unreadable vault at the last scan.
    var unreadable: Unreadable?
  }

  /// A vault that could not be read, and the error; no error means that no key was available.
  private struct Unreadable: Equatable {
    let status: DiskStatus?
    let code: KeychainError.Code?
  }

  private let file: VaultFile
  private let unlocker: Unlocker
  private let timeout: Duration
  private let whenReadabilityChanges: @Sendable () -> Void

  /// `nil` if there are no observers.
  private let known = PosixMutex<Known?>(nil)

  init(
    file: VaultFile, unlocker: Unlocker, timeout: Duration,
    whenReadabilityChanges: @escaping @Sendable () -> Void
  ) {
    self.file = file
    self.unlocker = unlocker
    self.timeout = timeout
    self.whenReadabilityChanges = whenReadabilityChanges
  }

  /// Begins without contents; the first scan only records the present ones.
  func begin() {
    known.withLock { $0 = Known() }
    file.own.withLock { $0 = [] }
    _ = changes()
  }

  func end() {
    known.withLock { $0 = nil }
    file.own.withLock { $0 = nil }
  }

  /// Returns the changes since the last scan; `nil` if another process held the vault for too long.
  ///
  /// A vault that is missing, damaged or not trusted, or has no available key, counts as unchanged
  /// for that time. Its beginning and end are reported separately.
  func changes() -> [CredentialChange]? {
    var found: VaultFile.Opened?
    do throws(KeychainError) {
      found = try file.open()
      if let found { return try changes(found) }
      // Everything that appears later was added.
      known.withLock { $0?.isBegun = true }
    } catch {
      guard error.code != .busy, error.code != .timedOut else { return nil }
      // Opening the file again may touch it, which would be noticed.
      if let found { known.withLock { $0?.status = found.status } }
      report(Unreadable(status: found?.status, code: error.code))
    }
    return []
  }

  /// Reports once that a vault cannot be read, or can be read again.
  private func report(_ unreadable: Unreadable?) {
    let isNew = known.withLock { known in
      guard known?.unreadable != unreadable else { return false }
      known?.unreadable = unreadable
      return known != nil
    }
    if isNew { whenReadabilityChanges() }
  }

  private func changes(_ opened: VaultFile.Opened) throws(KeychainError) -> [CredentialChange] {
    guard let old = known.withLock({ $0 }) else { return [] }
    guard old.status != opened.status else {
      report(nil)
      return []
    }
    guard let keys = try unlocker.keysAtHand(.nothing, opened.head) else {
      report(Unreadable(status: opened.status, code: nil))
      return []
    }
    // Before anything is made durable: that writes to the file, and would be noticed.
    if let vault = old.vault,
      try file.contents(opened, keys).newest.digest == vault.contents.newest.digest
    {
      known.withLock { $0?.status = opened.status }
      report(nil)
      return []
    }
    let session = VaultSession(
      file: file, opened: opened, unlocker: unlocker, deadline: Deadline(after: timeout),
      notice: nil)
    let new = (contents: try session.contents(keys), keys: keys.openTierOnly)
    let own = ownVersions(through: new.contents.newest.n)
    known.withLock { known in
      guard known != nil else { return }
      known = Known(
        status: opened.status, vault: new, isBegun: true, unreadable: known?.unreadable)
    }
    report(nil)
    guard old.isBegun else { return [] }
    let sealing = try session.sealing(keys)
    // Removed items were sealed under the keys of their time.
    let isSameEpoch = old.vault.map { $0.keys.binding == keys.binding } ?? true
    let oldSealing = isSameEpoch ? sealing : try session.sealing(old.vault?.keys ?? keys)
    let idBefore = { (item: VaultItem) throws(KeychainError) -> ItemID? in
      guard let identity = sealing.identity(of: item) else { return nil }
      return try oldSealing.id(of: identity)
    }
    let changes = try ItemChanges(
      from: old.vault, own: own, to: new, idBefore: isSameEpoch ? nil : idBefore)
    return changes.removed.map { CredentialChange(oldSealing.identity(of: $0), .removed) }
      + changes.added.map { CredentialChange(sealing.identity(of: $0), .added) }
      + changes.updated.map { CredentialChange(sealing.identity(of: $0), .updated) }
  }

  /// Removes and returns the newest versions from this handle's commits up to a number.
  private func ownVersions(through n: UInt64) -> [ItemID: UInt64?] {
    file.own.withLock { own in
      let taken = (own ?? []).filter { $0.n <= n }
      own?.removeAll { $0.n <= n }
      return Dictionary(taken.map { ($0.id, $0.version) }) { _, newest in newest }
    }
  }
}

extension ItemSealing {
  /// Returns the identity of an item; `nil` if no available key opens it.
  fileprivate func identity(of item: VaultItem?) -> CredentialIdentity? {
    guard let item else { return nil }
    return try? credential(of: item, name: item.name).identity
  }
}

/// The contents of a vault at the last scan, with T0, which is needed to look up removed items.
private typealias ObservedVault = (contents: VaultContents, keys: TierKeys)

/// How two states of a vault differ.
private struct ItemChanges {
  /// The removed items; `nil` for one that was added and removed since the first state.
  private(set) var removed: [VaultItem?] = []
  private(set) var added: [VaultItem] = []
  private(set) var updated: [VaultItem] = []

  private var before = Items()
  private var after = Items()

  private struct Items {
    var items: [ItemID: VaultItem] = [:]

    /// Whether a damaged page may have more.
    var isIncomplete = false
  }

  /// Compares two states, except for this handle's own changes between them, by version (`nil` if
  /// removed).
  ///
  /// Under a new root key, every item has another id: `idBefore` finds the one that its name had,
  /// if the name opens.
  init(
    from old: ObservedVault?, own: [ItemID: UInt64?], to new: ObservedVault,
    idBefore: ((VaultItem) throws(KeychainError) -> ItemID?)?
  ) throws(KeychainError) {
    if let old, old.contents.base.digest == new.contents.base.digest {
      try lookUpLog(old, new)
    } else {
      if let old { before = try Self.items(of: old) }
      after = try Self.items(of: new)
    }
    guard let idBefore else {
      compare(own)
      return
    }
    // An unchanged item keeps its version, which no other item has.
    let byVersion = Dictionary(before.items.map { ($1.entry.version, $0) }) { first, _ in first }
    var ids: [ItemID: ItemID] = [:]
    for (id, item) in after.items {
      let known = byVersion[item.entry.version]
      ids[id] = if let known { known } else { try idBefore(item) }
    }
    after.items = Dictionary(after.items.map { (ids[$0] ?? $0, $1) }) { first, _ in first }
    compare(Dictionary(own.map { (ids[$0] ?? $0, $1) }) { first, _ in first })
  }

  /// Looks up what the log changed since the first state.
  private mutating func lookUpLog(
    _ old: ObservedVault, _ new: ObservedVault
  ) throws(KeychainError) {
    for (id, logged) in new.contents.logged.joined() where logged.n > old.contents.newest.n {
      do throws(KeychainError) {
        before.items[id] = try old.contents.item(id, old.keys, name: id.name)
        after.items[id] = try new.contents.item(id, new.keys, name: id.name)
      } catch let error where error.code == .damaged {
        (before.isIncomplete, after.isIncomplete) = (true, true)
      }
    }
  }

  private static func items(of vault: ObservedVault) throws(KeychainError) -> Items {
    var found = Items()
    try vault.contents.forEachPage(vault.keys) { walked throws(KeychainError) in
      if walked.damage != nil { found.isIncomplete = true }
      for item in walked.items { found.items[item.id] = item }
    }
    return found
  }

  private mutating func compare(_ own: [ItemID: UInt64?]) {
    for id in Set(before.items.keys).union(after.items.keys).union(own.keys).sorted() {
      let old = before.items[id]
      let version = if let own = own[id] { own } else { old?.entry.version }
      switch (version, after.items[id]) {
      case (_?, nil) where !after.isIncomplete: removed.append(old)
      case (nil, let new?) where !before.isIncomplete: added.append(new)
      case (let version?, let new?) where version != new.entry.version: updated.append(new)
      default: break
      }
    }
  }
}
