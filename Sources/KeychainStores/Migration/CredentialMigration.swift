internal import Foundation
public import KeychainCredentials
public import KeychainVault
internal import PrephirencesFiles

/// Moves credentials from one store to another, so that none is lost and none is there twice.
///
/// Each credential is copied with all that is known about it, read back and compared. A service changes
/// over to the target when everything of it is there, and only then is anything removed from the
/// source, each item under the version that was copied. Killed at any point and run again, a migration
/// goes on where it stopped: what is in the target already, and the same, is left as it is.
///
/// A service that has the target for its store already was copied as a whole before. What the target lacks of
/// it may have been removed since, by a program that uses the target. It is therefore not copied again: it
/// stays in the source, and is reported, unless ``isOverwriting`` is set. In the same way, a copy of a run that was
/// killed stays in the target if its original was removed from the source since: it is reported, and its service
/// does not change over, unless ``isOverwriting`` is set. Items of other programs are copied
/// whenever ``includesOtherPrograms`` is set: what these programs need stays in the source anyway.
///
/// Everything is copied while other programs go on. Then the lock of the choice of store is held alone, for
/// as long as it takes to copy what has changed meanwhile, and to let the services change over: programs
/// that write through an ``AutomaticStore`` wait, and find the target afterwards. What is written to the
/// source past the choice after that stays there, and is reported.
///
/// ```swift
/// var migration = CredentialMigration(from: Vault(), to: SecretServiceStore())
/// migration.removesSource = true
/// let report = try migration.run()
/// ```
public struct CredentialMigration: Sendable {
  /// Where the credentials are.
  public let source: any CredentialStore

  /// Where they shall be.
  public let target: any CredentialStore

  /// Only credentials of this service; `nil` for any.
  public var service: String?

  /// Only internet passwords of this server; `nil` for any.
  public var server: String?

  /// Only credentials of this access group; `nil` for any.
  public var accessGroup: String?

  /// Whether credentials that the target has already, and that differ, are replaced.
  ///
  /// If a service has the target for its store already, what is newer in the target stays, and what the
  /// target lacks is copied, even if it was removed there.
  public var isOverwriting = false

  /// Whether credentials that other programs stored in the source are copied, too.
  public var includesOtherPrograms = false

  /// Whether credentials are removed from the source once their service has changed over.
  public var removesSource = false

  /// Whether ``removesSource`` also holds for credentials of other programs, which may still look for
  /// them there.
  public var removesOtherPrograms = false

  /// Is called before a credential of a service or server is copied; what it throws of one service keeps
  /// that where it is.
  package var mayChangeOver: (@Sendable (CredentialIdentity) throws(KeychainError) -> Void)?

  /// Is called for each service whose credentials are all in the target, before any of them is removed
  /// from the source.
  ///
  /// The identity names the service or server; its account is empty.
  package var whenComplete: (@Sendable (CredentialIdentity) throws(KeychainError) -> Void)?

  /// Tells whether the target is the store of a service or server already.
  package var isChosen: (@Sendable (CredentialIdentity) throws(KeychainError) -> Bool)?

  /// Keeps what was copied for the next run; `nil` where no service changes over.
  var notes: MigrationNotes?

  /// Where the locks of migrations and of the choice are.
  package var state = StateFolder(environment: .process)

  /// How long to wait for programs that are writing, and for another migration.
  package var deadline = Vault.Configuration().deadline

  /// Describes a migration of everything.
  ///
  /// Neither end can be an ``AutomaticStore``: it is its choice that a migration changes. Use
  /// ``AutomaticStore/migration(from:to:)``, or the store at one of its places.
  ///
  /// - Parameters:
  ///   - source: Where the credentials are.
  ///   - target: Where they shall be.
  public init(from source: any CredentialStore, to target: any CredentialStore) {
    self.source = source
    self.target = target
  }

  /// Moves the credentials.
  ///
  /// A vault that is the source is verified first. What must not leave the machine, what differs in the
  /// target, and what one of the stores refuses stays where it is, and so does the service that it
  /// belongs to; everything else goes on. What others write to the source before its services change over
  /// is copied as well; what they write there later is among the obstacles.
  ///
  /// - Parameter progress: Is called now and then with how far the work has come, and never while other
  ///   programs wait.
  /// - Returns: What became of the credentials.
  /// - Throws: ``KeychainError`` with ``KeychainError/Code/locked`` if one of the stores is, before
  ///   anything was changed, ``KeychainError/Code/noStore``, ``KeychainError/Code/damaged`` if a vault is
  ///   not intact, ``KeychainError/Code/invalidArgument`` if an end is an ``AutomaticStore``, or
  ///   ``KeychainError/Code/busy`` if another migration does not end, a program does not stop writing, or the
  ///   source keeps changing past the choice. What was copied by then stays, and the next run finds it.
  @discardableResult
  public func run(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> MigrationReport {
    try checkEnds()
    let lock = try StateLock("migration.lock", in: state, within: deadline)
    defer { extendLifetime(lock) }
    var run = MigrationRun(self, progress: progress)
    try run.begin()
    return try run.move()
  }

  /// Finds out what a migration would do, and changes nothing.
  ///
  /// - Parameter progress: Is told now and then how far the work has come.
  /// - Returns: What would become of the credentials.
  /// - Throws: As ``run(progress:)``.
  public func rehearse(
    progress: ((VaultProgress) -> Void)? = nil
  ) throws(KeychainError) -> MigrationReport {
    try checkEnds()
    var run = MigrationRun(self, isDryRun: true, progress: progress)
    try run.begin()
    return try run.rehearse()
  }

  /// What writes through the choice would wait for a lock that the migration holds.
  private func checkEnds() throws(KeychainError) {
    guard source is AutomaticStore || target is AutomaticStore else { return }
    throw KeychainError(
      .invalidArgument, "a migration is between two stores, and not through the choice of store",
      recovery: "use AutomaticStore.migration(from:to:)")
  }
}
