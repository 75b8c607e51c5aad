internal import KeychainCredentials
internal import KeychainVault

/// What a migration writes down of its copies, for a run after one that did not come to its end.
///
/// Where a service has not changed over, a copy that its source lacks was made by an earlier run, and may have
/// been deleted since: it must not be found again because the service changes over later.
struct MigrationNotes: Sendable {
  private let notes: CopyNotes
  private let way: String

  init(_ notes: CopyNotes, from source: StorePlace, to target: StorePlace) {
    self.notes = notes
    way = Self.way(from: source, to: target)
  }

  /// The stores between which copies went, as notes name them: without the collection.
  static func way(from source: StorePlace, to target: StorePlace) -> String {
    "\(source.name):\(target.name)"
  }

  /// Notes a copy that is about to be made.
  func add(_ original: Credential) throws(KeychainError) {
    if let note = try note(original) { try notes.add(note) }
  }

  /// Those credentials of the target that are copies which nobody has changed.
  func copies(among credentials: [Credential]) throws(KeychainError) -> [Credential] {
    let all = try notes.all()
    guard !all.isEmpty else { return [] }
    var copies: [Credential] = []
    for credential in credentials where !credential.isOfOtherProgram {
      if let note = try note(credential), all.contains(note) { copies.append(credential) }
    }
    return copies
  }

  /// Forgets copies, as their service has changed over.
  func forget(_ copies: [Credential]) throws(KeychainError) {
    let all = try notes.all()
    guard !all.isEmpty else { return }
    let gone = try self.notes(about: copies)
    guard !gone.isDisjoint(with: all) else { return }
    try notes.keep(all.subtracting(gone))
  }

  /// Forgets all copies that went this way, but some.
  func forget(allBut copies: [Credential]) throws(KeychainError) {
    let all = try notes.all()
    guard !all.isEmpty else { return }
    let kept = try self.notes(about: copies)
    try notes.keep(all.filter { $0.way != way || kept.contains($0) })
  }

  private func notes(about copies: [Credential]) throws(KeychainError) -> Set<CopyNotes.Note> {
    var found: Set<CopyNotes.Note> = []
    for copy in copies {
      if let note = try note(copy) { found.insert(note) }
    }
    return found
  }

  /// A copy has the names and the date of its original; whoever changes it, changes the date.
  private func note(_ credential: Credential) throws(KeychainError) -> CopyNotes.Note? {
    let identity = credential.identity
    let names =
      switch identity.kind {
      case .genericPassword(let service, let account): ["service", service, account]
      case .internetPassword(let password):
        [
          "server", password.server, password.protocol, String(password.port), password.path,
          password.account, password.securityDomain, password.authenticationType,
        ]
      }
    let modified = credential.modified.microseconds.map { String($0) } ?? ""
    let subject = ([modified, identity.accessGroup] + names).flatMap { name in
      Array("\(name.utf8.count):".utf8) + name.utf8
    }
    return try notes.note(subject, way: way)
  }
}
