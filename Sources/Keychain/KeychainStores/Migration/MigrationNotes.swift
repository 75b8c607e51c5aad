internal import KeychainCredentials
internal import KeychainVault

/// Records the copies of a migration, for the next run if this one does not finish.
///
/// If a service has not changed over, a copy without its original was made by an earlier run, and
/// the original may have been deleted since. The copy must not reappear because the service changes
/// over later.
struct MigrationNotes: Sendable {
  private let notes: CopyNotes
  private let way: String

  init(_ notes: CopyNotes, from source: StorePlace, to target: StorePlace) {
    self.notes = notes
    way = Self.way(from: source, to: target)
  }

  /// The two stores of a migration, as notes name them: without the collection.
  static func way(from source: StorePlace, to target: StorePlace) -> String {
    "\(source.name):\(target.name)"
  }

  /// Records a copy that is about to be made.
  func add(_ original: Credential) throws(KeychainError) {
    if let note = try note(original) { try notes.add(note) }
  }

  /// Returns the credentials of the target that are unchanged copies.
  func copies(among credentials: [Credential]) throws(KeychainError) -> [Credential] {
    let all = try notes.all()
    guard !all.isEmpty else { return [] }
    var copies: [Credential] = []
    for credential in credentials where !credential.isOfOtherProgram {
      if let note = try note(credential), all.contains(note) { copies.append(credential) }
    }
    return copies
  }

  /// Forgets copies whose service has changed over.
  func forget(_ copies: [Credential]) throws(KeychainError) {
    let all = try notes.all()
    guard !all.isEmpty else { return }
    let gone = try self.notes(about: copies)
    guard !gone.isDisjoint(with: all) else { return }
    try notes.keep(all.subtracting(gone))
  }

  /// Forgets all copies between these stores, except some.
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

  /// A copy has the names and the date of its original; a program that changes the copy changes the
  /// date.
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

/// Copies that a migration has left in its target, while their services still use the source.
package struct UnfinishedCopies: Hashable, Sendable {
  /// Where the credentials were copied from; its collection is not known.
  package let source: StorePlace

  /// Where the copies are; its collection is not known.
  package let target: StorePlace

  /// How many were made; some may have been removed since.
  package let count: Int
}

extension AutomaticStore {
  /// Returns the copies of migrations whose services have not changed over; an empty array if the
  /// notes cannot be read.
  package func unfinishedCopies() -> [UnfinishedCopies] {
    let notes = (try? CopyNotes(state).all()) ?? []
    let counts = notes.reduce(into: [:]) { $0[$1.way, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.compactMap { way, count in
      let places = way.split(separator: ":").compactMap { StorePlace(name: String($0)) }
      guard places.count == 2 else { return nil }
      return UnfinishedCopies(source: places[0], target: places[1], count: count)
    }
  }
}
