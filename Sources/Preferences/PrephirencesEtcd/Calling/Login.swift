internal import PrephirencesSystem

/// The token of a client: one thread logs in, others wait for it.
final class Login: Sendable {
  private enum State {
    case none
    case pending([Waiting])
    case done(Known)
  }

  private struct Known {
    let token: Token?
    let begin = ContinuousClock.now
    var lastUse = ContinuousClock.now
    /// Whether a request with it was answered.
    var hasWorked = false
  }

  private enum Turn {
    case mine
    case others(Waiting)
    case done(Token?)
  }

  private struct Knowledge {
    var state = State.none
    var isWithoutAuthentication: Bool?
  }

  private let knowledge = PosixMutex(Knowledge())

  var isWithoutAuthentication: Bool? {
    get { knowledge.withLock { $0.isWithoutAuthentication } }
    set { knowledge.withLock { $0.isWithoutAuthentication = newValue } }
  }

  /// Returns the token, which `logIn` gets if there is none; `nil` if none is needed.
  func token(
    keptFor duration: Duration, _ deadline: Deadline, _ cancellation: EtcdCancellation?,
    logIn: () throws(Refusal) -> Token?
  ) throws(Refusal) -> Token? {
    while true {
      switch turn(keptFor: duration) {
      case .done(let token): return token
      case .others(let waiting):
        do throws(EtcdError) {
          guard try waiting.wait(deadline, cancellation) else { throw EtcdError.timedOut }
        } catch { throw Refusal(error) }
      case .mine:
        var state = State.none
        defer { finish(state) }
        let token = try logIn()
        state = .done(Known(token: token))
        return token
      }
    }
  }

  /// Forgets a token that is not accepted any more, unless there is another one already.
  func forget(_ token: Token?) { forget(token) { _ in true } }

  /// Forgets a token that may be the reason why there is no answer.
  ///
  /// A member waits for the raft index of a token. If it was restored from a snapshot, and the token
  /// is newer, it waits for ever. Members that are only slow or away must not make clients log in
  /// again and again: so a token is forgotten once after it has worked, and then once a minute.
  func doubt(_ token: Token?) {
    guard token != nil else { return }
    forget(token) { $0.hasWorked || $0.begin.duration(to: .now) > .seconds(60) }
  }

  /// Notes that a request with a token was answered.
  func confirm(_ token: Token?) {
    knowledge.withLock { knowledge in
      guard case .done(var known) = knowledge.state, known.token === token, !known.hasWorked
      else { return }
      known.hasWorked = true
      knowledge.state = .done(known)
    }
  }

  private func forget(_ token: Token?, if condition: (Known) -> Bool) {
    knowledge.withLock { knowledge in
      if case .done(let known) = knowledge.state, known.token === token, condition(known) {
        knowledge.state = .none
      }
    }
  }

  private func turn(keptFor duration: Duration) -> Turn {
    knowledge.withLock { knowledge in
      switch knowledge.state {
      case .pending(let waitings):
        let waiting = Waiting()
        knowledge.state = .pending(waitings + [waiting])
        return .others(waiting)
      case .done(var known)
      where known.token == nil || known.lastUse.duration(to: .now) < duration:
        known.lastUse = .now
        knowledge.state = .done(known)
        return .done(known.token)
      case .none, .done:
        knowledge.state = .pending([])
        return .mine
      }
    }
  }

  private func finish(_ state: State) {
    let waitings = knowledge.withLock { knowledge -> [Waiting] in
      defer { knowledge.state = state }
      if case .pending(let waitings) = knowledge.state { return waitings }
      return []
    }
    for waiting in waitings { waiting.end() }
  }
}
