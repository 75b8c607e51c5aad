internal import KeychainCredentials
internal import KeychainStores
internal import PrephirencesCommandLine
internal import PrephirencesSystem

enum MigrationText {
  static func summary(of report: MigrationReport, to target: StorePlace, isDryRun: Bool) -> String {
    let parts = [
      (report.replacedCount, "of them overwritten"), (report.unchangedCount, "there already"),
      (
        report.removedCount,
        isDryRun ? "would be removed from the source" : "removed from the source"
      ),
      (report.obstacles.count + report.damaged.count, isDryRun ? "would stay" : "stayed"),
    ]
    let verb = isDryRun ? "would copy" : "copied"
    return
      (["\(verb) \(Words.items(report.copiedCount)) to the \(StoreText.name(of: target))"]
      + parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }).joined(separator: "; ")
  }

  /// Reports that a service or server still uses the source.
  static func staysBehind(
    _ service: CredentialIdentity, outOf target: StorePlace, isDryRun: Bool
  ) -> String {
    let name =
      switch service.kind {
      case .genericPassword(let service, _): "service '\(service)'"
      case .internetPassword(let password): "server '\(password.server)'"
      }
    return "\(name) \(isDryRun ? "would keep" : "keeps") its store, as not everything of it "
      + "\(isDryRun ? "would be" : "is") in the \(StoreText.name(of: target))"
  }

  /// Reports that services no longer use a keyring that is gone.
  static func abandoned(_ count: Int) -> String {
    count == 0
      ? "no such service has its store in the desktop keyring"
      : "the vault is the store of \(Words.counted(count, "service")) now; nothing was copied or "
        + "removed"
  }

  /// Explains why a credential stays where it is.
  static func stays(_ obstacle: MigrationReport.Obstacle) -> String {
    let name = obstacle.identity.description
    let reason = obstacle.reason.message
    return reason.contains(name) ? reason : "\(name): \(reason)"
  }

  /// Reports that the source has nothing left of a service.
  static func hasMoved(_ service: ServiceName?, to target: StorePlace) -> String {
    "everything of \(service?.description ?? "the services") is in the "
      + "\(StoreText.name(of: target)) already"
  }

  static func isDamaged(_ name: String) -> String { "damaged: \(name)" }

  static func isInBoth(_ count: Int) -> String {
    "\(Words.items(count)) of services that keep their store \(Words.are(count)) in both now"
  }

  static func leftToOthers(_ count: Int) -> String {
    "\(Words.items(count)) of other programs \(Words.are(count)) left to them; "
      + "--other-programs moves \(count == 1 ? "it" : "them"), too"
  }

  static func removeSource(_ source: StorePlace) -> String {
    "the \(StoreText.name(of: source)) still has what was copied; --remove-source removes it"
  }

  /// Reports what an unfinished migration has left.
  static func inBothStores(_ copies: UnfinishedCopies) -> String {
    "\(Words.items(copies.count)) that a migration copied into the "
      + "\(StoreText.name(of: copies.target)), while their services still have the "
      + "\(StoreText.name(of: copies.source))"
  }

  static func finishing(_ copies: UnfinishedCopies) -> String {
    "to let services change over whose credentials are in both stores, run "
      + "'\(KeychainCommandContext.current.commandPath) migrate --from \(copies.source.name) "
      + "--to \(copies.target.name)\(KeychainCommandContext.current.scopeOption())'"
  }

  static let goesOn = "what was copied stays there; to resume, run the same command again"
}

extension MigrationReport {
  /// Whether there was nothing to move.
  var isEmpty: Bool {
    isComplete && copiedCount + unchangedCount + removedCount + otherProgramsCount == 0
  }
}

extension KeychainError {
  /// The error if neither store has anything of a service or server.
  static func nothingToMove(_ service: ServiceName) -> Self {
    Self(
      .notFound, "neither the vault nor the desktop keyring has a credential of \(service)",
      recovery: "see which there are with '\(KeychainCommandContext.current.commandPath) list"
        + "\(KeychainCommandContext.current.scopeOption())'")
  }

  /// The error of a migration that did not move everything; `nil` if it did.
  init?(incomplete report: MigrationReport, from source: StorePlace, isDryRun: Bool) {
    guard !report.isComplete else { return nil }
    let codes = Set(report.obstacles.map(\.reason.code))
    let count = report.obstacles.count + report.damaged.count + report.otherDeviceCount
    let code: Code
    if !report.damaged.isEmpty || codes.contains(.damaged) {
      code = .damaged
    } else if let conflict = Self.conflict(among: codes), report.otherDeviceCount == 0 {
      code = conflict
    } else {
      code = .refused
    }
    self.init(
      code,
      "\(Words.items(count)) \(isDryRun ? "would stay" : count == 1 ? "stays" : "stay") in the "
        + StoreText.name(of: source),
      recovery: codes.contains(.alreadyExists)
        ? "--overwrite replaces credentials of the target that differ, and copies what may have "
          + "been deleted there"
        : report.obstacles.first?.reason.recovery)
  }

  /// Returns the code if all obstacles are conflicts of names or versions, or `nil`.
  private static func conflict(among codes: Set<Code>) -> Code? {
    let conflicts: [Code] = [.ambiguous, .alreadyExists, .versionConflict]
    return codes.isSubset(of: conflicts) ? conflicts.first(where: codes.contains) : nil
  }
}

extension MigrationReport {
  /// The result in JSON: which credentials stay, and why; `inBoth` lists those whose service still
  /// uses the source.
  func json(from source: StorePlace, to target: StorePlace, isDryRun: Bool) -> JSONValue {
    .members([
      ("dryRun", isDryRun), ("from", source.name), ("to", target.name), ("copied", copiedCount),
      ("overwritten", replacedCount), ("unchanged", unchangedCount), ("removed", removedCount),
      ("inBoth", strandedCount),
      (
        "staying",
        obstacles.map { obstacle in
          JSONValue.members([
            ("credential", obstacle.identity), ("code", obstacle.reason.code.description),
            ("reason", obstacle.reason.message),
          ])
        }
      ),
      ("damaged", damaged), ("ofOtherDevices", otherDeviceCount),
      ("ofOtherPrograms", otherProgramsCount),
      ("completeServices", completeServices.map(Self.json)),
      ("incompleteServices", incompleteServices.map(Self.json)),
    ])
  }

  private static func json(_ identity: CredentialIdentity) -> JSONValue {
    switch identity.kind {
    case .genericPassword(let service, _): .members([("service", service)])
    case .internetPassword(let password): .members([("server", password.server)])
    }
  }
}
