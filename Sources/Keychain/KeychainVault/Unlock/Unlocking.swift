internal import KeychainCredentials
internal import KeychainVaultFormat

/// The steps of unlocking a vault: the order of its sources, when a person is asked, and when it
/// ends.
///
/// It reads nothing, waits for nothing and has no keys: ``UnlockDriver`` performs each action, and
/// reports its result.
struct Unlocking {
  /// The goal of the unlocking.
  enum Goal: Hashable {
    /// Keys of the tiers; kept ones are enough.
    case keys(Accessibility.UnlockRequirement)

    /// A slot that a secret opens that is presented now, or a device key that administers.
    case slot
  }

  /// A question to a person.
  struct Question: Hashable {
    let kind: SlotKind

    /// Whether the answer may also be a recovery code.
    let takesRecoveryCode: Bool
  }

  enum Action: Hashable {
    /// Look for available keys that are enough; for a slot, try the device key.
    case look

    /// Read the explicit source, or else the first ambient one.
    case present

    /// If a passphrase was presented, wait until the user's other processes hash none.
    case waitToHash

    /// Open the vault with the presented secret.
    case open

    /// Wait until no other task of the process asks.
    case waitToAsk
    case ask(failedAttempts: Int)

    /// Open the vault with the answer.
    case openAnswer(as: SlotKind)
    case finish(Keeping)
    case fail(Failure)
  }

  /// The place where keys are kept for later calls.
  enum Keeping: Hashable { case nowhere, inHandle, inKernel }

  enum Failure: Hashable {
    /// The error of the last action.
    case ofAction

    /// The error of the last action, if a recovery code could have been typed.
    case ofAnswer

    /// Nothing is left that could unlock.
    case locked
    case cancelled
  }

  enum Event: Hashable {
    case began
    case found, notFound
    case presented

    /// The wait is over.
    case ready
    case answered(looksLikeRecoveryCode: Bool)
    case cancelled

    /// Instead of asking, the program waited for another process, whose question may have unlocked
    /// the vault.
    case otherQuestionEnded
    case opened

    /// The secret does not open the vault.
    case wrong

    /// The action failed for another reason.
    case failed
  }

  private enum State {
    case begun
    case looking(before: Step)
    case presenting, waitingToHash, opening
    case waitingToAsk
    case asking(failedAttempts: Int)

    /// The answer to a question for a passphrase is tried as a recovery code.
    case openingAsCode(failedAttempts: Int)
    case openingAnswer(failedAttempts: Int)
    case ended
  }

  private enum Step { case presenting, opening, asking }

  private static let maximumAnswers = 3

  let goal: Goal
  private let isExplicit: Bool
  private let question: Question?
  private var state = State.begun

  /// Creates an unlocking by the explicit source alone, or by all others and a question; `nil` if
  /// nobody can be asked.
  init(_ goal: Goal, isExplicit: Bool, question: Question?) {
    (self.goal, self.isExplicit, self.question) = (goal, isExplicit, question)
  }

  /// Returns the action after an event; an event that is not a result of the last action ends the
  /// unlocking.
  mutating func next(_ event: Event) -> Action {
    switch (state, event) {
    case (.begun, .began):
      return isExplicit && goal == .slot ? present() : look(before: .presenting)

    case (.looking, .found): return end(.finish(.nowhere))
    case (.looking(before: .presenting), .notFound): return present()
    case (.looking(before: .opening), .notFound): return open()
    case (.looking(before: .asking), .notFound): return ask(failedAttempts: 0)

    case (.presenting, .presented):
      state = .waitingToHash
      return .waitToHash
    case (.presenting, .notFound):
      guard question != nil else { return end(.fail(.locked)) }
      state = .waitingToAsk
      return .waitToAsk

    // The other process may have unlocked the vault.
    case (.waitingToHash, .ready): return goal == .slot ? open() : look(before: .opening)
    case (.waitingToAsk, .ready), (.asking, .otherQuestionEnded):
      return goal == .slot ? ask(failedAttempts: 0) : look(before: .asking)

    case (.asking(let count), .answered(let looksLikeCode)):
      guard let question else { return end(.fail(.locked)) }
      guard looksLikeCode, question.takesRecoveryCode, question.kind != .recoveryCode else {
        state = .openingAnswer(failedAttempts: count)
        return .openAnswer(as: question.kind)
      }
      state = .openingAsCode(failedAttempts: count)
      return .openAnswer(as: .recoveryCode)
    case (.asking, .cancelled): return end(.fail(.cancelled))
    case (.openingAsCode(let count), .wrong):
      state = .openingAnswer(failedAttempts: count)
      return .openAnswer(as: question?.kind ?? .passphrase)
    case (.openingAnswer(let count), .wrong):
      guard count + 1 == Self.maximumAnswers else { return ask(failedAttempts: count + 1) }
      let tookCode = question?.takesRecoveryCode == true && question?.kind != .recoveryCode
      return end(.fail(tookCode ? .ofAnswer : .ofAction))

    case (.opening, .opened), (.openingAsCode, .opened), (.openingAnswer, .opened):
      return end(.finish(goal == .slot ? .nowhere : isExplicit ? .inHandle : .inKernel))

    case (.begun, _), (.looking, _), (.presenting, _), (.waitingToHash, _), (.opening, _),
      (.waitingToAsk, _), (.asking, _), (.openingAsCode, _), (.openingAnswer, _), (.ended, _):
      return end(.fail(.ofAction))
    }
  }

  private mutating func look(before step: Step) -> Action {
    state = .looking(before: step)
    return .look
  }

  private mutating func present() -> Action {
    state = .presenting
    return .present
  }

  private mutating func open() -> Action {
    state = .opening
    return .open
  }

  private mutating func ask(failedAttempts count: Int) -> Action {
    state = .asking(failedAttempts: count)
    return .ask(failedAttempts: count)
  }

  private mutating func end(_ action: Action) -> Action {
    state = .ended
    return action
  }
}
