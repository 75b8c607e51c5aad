internal import KeychainCredentials
internal import KeychainSecrets
internal import KeychainVaultFormat
internal import PrephirencesSystem

/// Performs the actions of an ``Unlocking``: reads, waits, asks and opens.
struct UnlockDriver: ~Copyable {
  private let unlocker: Unlocker
  private let vault: VaultFile.Opened
  private let deadline: Deadline
  private let question: Unlocking.Question?
  private var unlocking: Unlocking

  private(set) var slot: OpenedSlot?
  private var found: TierKeys?
  private var presented: PresentedSecret?
  private var hashLock: FileLock?
  private var answer: SecretBytes?
  private var failure: KeychainError?

  init(
    _ unlocker: Unlocker, _ goal: Unlocking.Goal, _ vault: VaultFile.Opened, _ deadline: Deadline
  ) {
    (self.unlocker, self.vault, self.deadline) = (unlocker, vault, deadline)
    question = unlocker.question(vault.head)
    unlocking = Unlocking(
      goal, isExplicit: unlocker.configuration.unlock != nil, question: question)
  }

  var keys: TierKeys? { found ?? slot?.keys }

  /// Unlocks, so that the keys or the slot are available; `false` if nothing is left that could
  /// unlock.
  mutating func run(_ first: Unlocking.Event = .began) throws(KeychainError) -> Bool {
    var event = first
    while true {
      let action = unlocking.next(event)
      switch action {
      case .waitToAsk:
        // One question for all tasks, because each would need the same answer.
        return try deadline.excluding { () throws(KeychainError) in
          try unlocker.asking.withLock { () throws(KeychainError) in try run(.ready) }
        }
      case .finish(let keeping):
        keep(keeping)
        return true
      case .fail(.locked): return false
      case .fail(.cancelled): throw KeychainError(.cancelled, "unlocking was cancelled")
      case .fail(.ofAnswer): throw failure?.namingCodeAtPrompt ?? .unexpectedUnlocking
      case .fail(.ofAction): throw failure ?? .unexpectedUnlocking
      case .look, .present, .waitToHash, .open, .ask, .openAnswer:
        do throws(KeychainError) {
          event = try perform(action)
        } catch {
          failure = error
          let isOther = error == .otherQuestionEnded
          event = isOther ? .otherQuestionEnded : error.code == .incorrectSecret ? .wrong : .failed
        }
      }
    }
  }

  private mutating func perform(_ action: Unlocking.Action) throws(KeychainError) -> Unlocking.Event
  {
    switch action {
    case .look: return try look() ? .found : .notFound
    case .present:
      presented = try unlocker.present(deadline)
      switch presented {
      case .none: return .notFound
      case .some: return .presented
      }
    case .waitToHash:
      switch presented {
      case .none: return .failed
      case .some(let presented):
        hashLock = try unlocker.passwordHashLock(presented.kind, deadline)
        return .ready
      }
    case .open:
      switch presented {
      case .none: return .failed
      case .some(let presented):
        slot = try unlocker.openHoldingLock(presented, vault, deadline)
      }
      return .opened
    case .ask(let count): return try ask(failedAttempts: count)
    case .openAnswer(let kind): return try openAnswer(as: kind)
    case .waitToAsk, .finish, .fail: return .failed
    }
  }

  private mutating func look() throws(KeychainError) -> Bool {
    switch unlocking.goal {
    case .keys(let requirement):
      found = try unlocker.keysAtHand(requirement, vault.head)
      return found != nil
    case .slot:
      slot = try unlocker.openOwnSlot(of: vault.head)
      return slot?.root != nil
    }
  }

  private mutating func ask(failedAttempts: Int) throws(KeychainError) -> Unlocking.Event {
    guard let ask = unlocker.configuration.ask, let question else { return .failed }
    answer = try ask(
      PassphraseRequest(
        vaultPath: vault.path, kind: question.kind, takesRecoveryCode: question.takesRecoveryCode,
        failedAttempts: failedAttempts))
    switch answer {
    case .none: return .cancelled
    case .some(let answer):
      // The checksum of an answer shows whether it is a recovery code.
      let code = try? PresentedSecret.recoveryCode(answer, Self.source)
      return .answered(looksLikeRecoveryCode: code != nil)
    }
  }

  private mutating func openAnswer(as kind: SlotKind) throws(KeychainError) -> Unlocking.Event {
    // The time of a person's answer does not count against the deadline.
    let deadline = unlocker.configuration.deadlineOfCall()
    switch answer {
    case .none: return .failed
    case .some(let answer):
      let presented =
        if kind == .recoveryCode { try PresentedSecret.recoveryCode(answer, Self.source) } else {
          PresentedSecret(
            kind: kind, secret: try answer.copy(), source: Self.source)
        }
      slot = try unlocker.open(presented, vault, deadline)
    }
    return .opened
  }

  private static let source = "the prompt"

  /// Keeps the keys for later calls: in the kernel if possible, otherwise in the handle.
  private func keep(_ keeping: Unlocking.Keeping) {
    guard let keys, keeping != .nowhere else { return }
    if keeping == .inKernel {
      do throws(KeychainError) {
        return try unlocker.cache.put(
          keys, of: vault.head.id, at: unlocker.file.records().names, fixedTime: nil)
      } catch {
        // In a container, this happens to each command; `unlock` and `doctor` report it.
      }
    }
    unlocker.held.hold(keys)
  }
}

extension KeychainError {
  fileprivate static let unexpectedUnlocking = Self(
    .internalFailure, "unlocking took an unexpected turn")

  /// The error after a person's last wrong answer, if a recovery code could have been typed.
  fileprivate var namingCodeAtPrompt: Self {
    let way: Recovery = ", or type the recovery code where the passphrase is asked for"
    return Self(code, message, recovery: (recovery ?? .tryAgain) + way, underlying: underlying)
  }
}
