internal import PrephirencesSystem
internal import SystemPackage

/// The watches of a client: one thread reads one connection for all of them, while somebody watches.
///
/// An open connection takes no further watches (HTTP/1.1), so a new watch means a new connection with
/// all of them, each from its own next revision.
final class WatchHub: Sendable {
  /// The time between two connections, so that watches that begin together need few.
  private static let rest: Duration = .milliseconds(100)

  private struct State {
    var watches: [WatchSubscription] = []
    var hasThread = false
    /// Ends the present connection.
    var interruption = EtcdCancellation()
    /// Whether all watches of the connection are answered: until then, nobody interrupts it.
    var isFollowing = false
    /// Whether another connection is needed.
    var isOutdated = false
    var token: Token?
  }

  private let caller: Caller
  private let state = PosixMutex(State())

  init(_ caller: Caller) { self.caller = caller }

  // MARK: - Threads that watch

  func add(_ watch: WatchSubscription) throws(EtcdError) {
    let (interruption, needsThread) = state.withLock { state in
      state.watches.append(watch)
      state.isOutdated = true
      defer { state.hasThread = true }
      return (state.isFollowing ? state.interruption : nil, !state.hasThread)
    }
    interruption?.cancel()
    guard needsThread else { return }
    do throws(Errno) {
      try DetachedThread.start(named: "prefs-watch") { self.run() }
    } catch {
      let left = state.withLock { state in
        state.hasThread = false
        defer { state.watches = [] }
        return state.watches
      }
      for watch in left { watch.end(.noThread(error)) }
    }
  }

  func remove(_ watch: WatchSubscription) {
    let interruption = state.withLock { state in
      state.watches.removeAll { $0 === watch }
      return state.watches.isEmpty ? state.interruption : nil
    }
    interruption?.cancel()
  }

  /// Renews the connection unless it has this token.
  func renew(with token: Token?) {
    let interruption: EtcdCancellation? = state.withLock { state in
      guard state.isFollowing, state.token !== token else { return nil }
      state.isOutdated = true
      return state.interruption
    }
    interruption?.cancel()
  }

  // MARK: - The thread of the connection

  private func run() {
    var attempts = Attempts(caller.configuration.endpoints.count)
    var rest = Deadline(after: .zero)
    while next() != nil {
      if !rest.hasPassed { _ = try? Waiting().wait(rest, nil) }
      // With those that have come meanwhile.
      guard let (watches, interruption) = next() else { return }
      rest = Deadline(after: Self.rest)
      connect(watches, interruption, &attempts)
    }
  }

  /// Returns the watches of the next connection; `nil` if the thread ends.
  private func next() -> ([WatchSubscription], EtcdCancellation)? {
    state.withLock { state in
      state.watches.removeAll(where: \.hasEnded)
      (state.isFollowing, state.isOutdated) = (false, false)
      guard !state.watches.isEmpty else {
        state.hasThread = false
        return nil
      }
      state.interruption = EtcdCancellation()
      return (state.watches, state.interruption)
    }
  }

  private func follow(_ token: Token?) -> Bool {
    state.withLock { state in
      (state.isFollowing, state.token) = (true, token)
      return !state.isOutdated
    }
  }

  private func connect(
    _ watches: [WatchSubscription], _ interruption: EtcdCancellation, _ attempts: inout Attempts
  ) {
    var connection = WatchConnection(caller, watches, interruption)
    do throws(Refusal) {
      return try connection.run(follow)
    } catch {
      guard !interruption.isCancelled else { return }
      if connection.created > 0 {
        attempts = Attempts(caller.configuration.endpoints.count)
        caller.login.confirm(connection.token)
      }
      if error.remedy == .newLogin {
        caller.login.forget(connection.token)
      } else {
        caller.skipEndpoint()
        caller.login.doubt(connection.token)
        // What was missed is known to their threads only.
        for watch in watches where watch.hasBegun { watch.end(error.error) }
      }
      let patience = Deadline(after: caller.configuration.timing.silence)
      do throws(EtcdError) { try attempts.allow(error, patience, interruption) } catch {
        guard !interruption.isCancelled else { return }
        for watch in watches { watch.end(error) }
        attempts = Attempts(caller.configuration.endpoints.count)
      }
    }
  }
}

extension EtcdError {
  fileprivate static func noThread(_ error: Errno) -> EtcdError {
    EtcdError(.unreachable, "no thread can be started for the watch: \(error.wordsOfThread)")
  }
}
