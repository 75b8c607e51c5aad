internal import PrephirencesFiles

/// The token of a client: one thread logs in, others wait for it.
final class Login: Sendable {
  private enum State {
    case none
    case pending([Waiting])
    case done(Token?, lastUse: ContinuousClock.Instant)
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
        state = .done(token, lastUse: .now)
        return token
      }
    }
  }

  /// Forgets a token that is not accepted any more, unless there is another one already.
  func forget(_ token: Token?) {
    knowledge.withLock { knowledge in
      if case .done(let known, _) = knowledge.state, known === token { knowledge.state = .none }
    }
  }

  private func turn(keptFor duration: Duration) -> Turn {
    knowledge.withLock { knowledge in
      switch knowledge.state {
      case .pending(let waitings):
        let waiting = Waiting()
        knowledge.state = .pending(waitings + [waiting])
        return .others(waiting)
      case .done(let token, let lastUse)
      where token == nil || lastUse.duration(to: .now) < duration:
        knowledge.state = .done(token, lastUse: .now)
        return .done(token)
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
