public import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// The result of a migration, or of a rehearsal.
public struct MigrationReport: Hashable, Sendable {
  /// The number of credentials that were copied.
  public internal(set) var copiedCount = 0

  /// The number of copies that replaced another credential.
  public internal(set) var replacedCount = 0

  /// The number of credentials that were already in the target, identical in every detail.
  public internal(set) var unchangedCount = 0

  /// The number of credentials that were removed from the source.
  public internal(set) var removedCount = 0

  /// The credentials that stay where they are, ordered by identity.
  public internal(set) var obstacles: [Obstacle] = []

  /// The number of other programs' credentials that stay unchanged.
  public internal(set) var otherProgramsCount = 0

  /// The number of items of the source that are bound to another machine, and cannot be read on
  /// this one.
  public internal(set) var otherDeviceCount = 0

  /// Names of damaged items of the source, if they can be read.
  public internal(set) var damaged: [String] = []

  /// The services and servers that changed over: all their credentials are in the target, except
  /// those that may have been removed there.
  public internal(set) var completeServices: [CredentialIdentity] = []

  /// The services and servers that did not change over, because some credentials stay in the
  /// source.
  public internal(set) var incompleteServices: [CredentialIdentity] = []

  /// A credential that stays where it is.
  public struct Obstacle: Hashable, Sendable {
    /// The names of the credential.
    public let identity: CredentialIdentity

    /// Why it stays: ``KeychainError/Code/refused`` if it must not leave the machine or may have
    /// been removed from the target, ``KeychainError/Code/alreadyExists`` if the target has a
    /// different one of its name, or the error of a store.
    public let reason: KeychainError
  }

  /// The number of credentials in both stores, because their service did not change over.
  public internal(set) var strandedCount = 0

  /// Whether everything that should move is in the target.
  public var isComplete: Bool { obstacles.isEmpty && damaged.isEmpty && otherDeviceCount == 0 }
}

extension KeychainError {
  /// Whether the error concerns one credential, so that the next one can still be copied.
  var concernsOneCredential: Bool {
    let codes: Set<Code> = [
      .refused, .tooLarge, .invalidArgument, .damaged, .otherDevice, .alreadyExists, .ambiguous,
      .unsupportedFormat,
    ]
    return codes.contains(code)
  }

  static func boundToDevice(_ credential: Credential) -> Self {
    Self(
      .refused,
      "\(credential.identity) is \(credential.accessibility), and must not leave the machine",
      recovery: "leave it, or give it another accessibility with \(.update)")
  }

  static func differs(_ found: Credential) -> Self {
    Self(
      .alreadyExists,
      found.isOfOtherProgram
        ? "another program has a different \(found.identity) in the target"
        : "the target has a different \(found.identity)",
      recovery: "remove the one that is out of date, or overwrite that of the target")
  }

  static func isOutOfDate(_ found: Credential) -> Self {
    Self(
      .refused, "the target has a newer \(found.identity), which programs use",
      recovery: "remove the older one from the source with \(.delete) and \(.nameStore)")
  }

  static func wasRemoved(_ credential: Credential) -> Self {
    Self(
      .refused,
      "\(credential.identity) stays in the source: its service uses the target already, and the "
        + "item may have been deleted there",
      recovery:
        "delete it from the source, too, with \(.delete) and \(.nameStore), or copy it "
        + "with \(.overwrite)")
  }

  static func wasDeleted(_ copy: Credential) -> Self {
    Self(
      .refused,
      "\(copy.identity) is in the target, where a migration copied it, and is gone from the source "
        + "since: it may have been deleted there",
      recovery:
        "delete it from the target, too, with \(.delete) and \(.nameStore), or keep it "
        + "with \(.overwrite)")
  }

  static func cameLate(_ credential: Credential) -> Self {
    Self(
      .versionConflict,
      "\(credential.identity) was written to the source when its service had left it",
      recovery: "compare it with the one of the target, and remove the older one with "
        + "\(.delete) and \(.nameStore)")
  }

  static func cameBackChanged(_ identity: CredentialIdentity) -> Self {
    Self(
      .damaged, "\(identity) did not come back from the target as it was stored",
      recovery: "leave it where it is")
  }

  static func locked(_ count: Int, in place: String) -> Self {
    Self(
      .locked,
      "\(count) \(count == 1 ? "item" : "items") of the \(place) cannot be read while it is locked",
      recovery: "unlock it: the vault with \(.unlock), the keyring at the desktop")
  }

  static func changedMeanwhile(_ credential: Credential) -> Self {
    Self(
      .versionConflict, "\(credential.identity) was written to the source while it was copied",
      recovery: "run the migration again")
  }
}

extension CredentialIdentity {
  /// The identity of the credential's service or server, without account and other names.
  var withoutAccount: CredentialIdentity {
    switch kind {
    case .genericPassword(let service, _): .genericPassword(service: service, account: "")
    case .internetPassword(let password):
      CredentialIdentity(.internetPassword(InternetPassword(server: password.server, account: "")))
    }
  }
}

extension StoredSecret {
  /// Whether two credentials have the same secret and content.
  borrowing func isSame(as other: borrowing StoredSecret) -> Bool {
    credential.hasSameContent(as: other.credential) && secret.isEqual(to: other.secret)
  }
}

extension Credential {
  /// Whether everything is the same except dates and version, which stores set.
  func hasSameContent(as other: Credential) -> Bool {
    identity == other.identity && accessibility == other.accessibility
      && expires?.microseconds == other.expires?.microseconds && attributes == other.attributes
      && texts.elementsEqual(other.texts)
  }

  private var texts: [[UInt8]?] { [label, comment, contentType].map { $0.map { Array($0.utf8) } } }
}

/// Records the copies of a migration, for the next run if this one does not finish.
///
/// If a service has not changed over, a copy without its original was made by an earlier run, and
/// the original may have been deleted since. The copy must not reappear when the service changes
/// over.
struct MigrationNotes: Sendable {
  private let notes: CopyNotes
  private let route: String

  init(_ notes: CopyNotes, from source: StorePlace, to target: StorePlace) {
    self.notes = notes
    route = Self.route(from: source, to: target)
  }

  /// Returns the two stores of a migration as notes name them, without the collection.
  static func route(from source: StorePlace, to target: StorePlace) -> String {
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
    try notes.keep(all.filter { $0.route != route || kept.contains($0) })
  }

  private func notes(about copies: [Credential]) throws(KeychainError) -> Set<CopyNotes.Note> {
    var found: Set<CopyNotes.Note> = []
    for copy in copies {
      if let note = try note(copy) { found.insert(note) }
    }
    return found
  }

  /// Returns a note with the names and the date of the original; a program that changes the copy
  /// changes the date.
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
    return try notes.note(subject, route: route)
  }
}

/// Copies that a migration has left in its target, while their services still use the source.
package struct UnfinishedCopies: Hashable, Sendable {
  /// The store that the credentials were copied from; its collection is unknown.
  package let source: StorePlace

  /// The store of the copies; its collection is unknown.
  package let target: StorePlace

  /// The number of copies; some may have been removed since.
  package let count: Int
}

extension AutomaticStore {
  /// Returns the copies of migrations whose services have not changed over; none if the notes
  /// cannot be read.
  package func unfinishedCopies() -> [UnfinishedCopies] {
    let notes = (try? CopyNotes(state).all()) ?? []
    let counts = notes.reduce(into: [:]) { $0[$1.route, default: 0] += 1 }
    return counts.sorted { $0.key < $1.key }.compactMap { route, count in
      let places = route.split(separator: ":").compactMap { StorePlace(name: String($0)) }
      guard places.count == 2 else { return nil }
      return UnfinishedCopies(source: places[0], target: places[1], count: count)
    }
  }
}
