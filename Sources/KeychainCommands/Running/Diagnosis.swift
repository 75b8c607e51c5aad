internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVault

/// What can be found out about the keychain without asking and without changing anything.
struct Diagnosis {
  /// Why this store is used.
  enum Choice: String, Encodable {
    case option, environment, onlyOne
  }

  /// How well the vault is protected.
  enum Grade: String, Encodable {
    case strong, fair, weak
  }

  let choice: Choice
  let path: String?
  let status: VaultStatus?
  let failure: KeychainError?
  let canLockMemory: Bool
  let lockedMemoryLimit: UInt64?
  let mayAsk: Bool

  /// Looks.
  init(_ session: Session) {
    choice =
      session.options.store != nil
      ? .option : Session.environment("KEYCHAIN_STORE") != nil ? .environment : .onlyOne
    canLockMemory = ProcessProtection.canLockMemory
    lockedMemoryLimit = ProcessProtection.lockedMemoryLimit
    mayAsk = session.prompt != nil
    do throws(KeychainError) {
      let status = try session.vault.status()
      (self.status, path, failure) = (status, status.path, Self.problem(of: status))
    } catch {
      (status, path, failure) = (nil, try? session.vault.path(), error)
    }
  }

  /// The grade of the vault's protection, or `nil` without a vault.
  var grade: Grade? { status.flatMap(Self.grade) }

  /// A vault is as strong as the weakest slot that opens everything.
  static func grade(_ status: VaultStatus) -> Grade? {
    guard status.exists else { return nil }
    let opening = status.slots.filter { $0.grant == .root }
    if opening.contains(where: { $0.kind == .device }) { return .weak }
    let isCheap = opening.contains { slot in
      slot.passwordHash.map { $0.memory < PasswordHash.Parameters.moderate.memory } ?? false
    }
    return isCheap ? .fair : .strong
  }

  /// What makes a vault unusable although it can be looked at.
  static func problem(of status: VaultStatus) -> KeychainError? {
    switch status.seenRecord {
    case .newerThanFile: .olderThanSeen(status.path)
    case .otherVault: .anotherVault(status.path)
    default:
      if status.exists {
        status.canBeOpened || status.readable != nil ? nil : .nothingOpens(status)
      } else {
        status.wasSeen ? .vaultIsGone(status.path) : nil
      }
    }
  }
}
