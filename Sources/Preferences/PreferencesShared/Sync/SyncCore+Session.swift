internal import PreferencesDurable
internal import PrephirencesSystem
internal import SystemPackage

extension SyncCore {
  /// Sends and receives until the session ends.
  ///
  /// - Returns: Whether it has ended because the file is shared otherwise, or not any more.
  func runSession(_ path: String, _ lock: SenderLock, _ sharing: Sharing) -> Bool {
    reports.expire()
    signals.change { state in
      state.isEnding = false
      state.isInStep = false
      state.received = 0
    }
    let session = SyncSession(
      replica.during(sharing), client, layout, options, signals, reports
    ) {
      lock.announce()
    }
    reports.keepFailures(with: { lock.keep(failure: $0?.message) })
    defer { reports.keepFailures(with: nil) }
    ends.withLock { $0.session = session }
    if isStopping { session.end() }
    options.didTakeTurn?(true)
    runInSession("prefs-receive", session) { _ in
      Receiver(session: session).run()
      session.end()
    }
    var sender = Sender(session)
    sender.run()
    session.end()
    ends.withLock { $0.session = nil }
    signals.wait(nil) { $0.sessionThreads == 0 }
    options.didTakeTurn?(false)
    return session.hasLostFile
  }

  /// Without one of its threads, a session does nothing.
  private func runInSession(
    _ name: String, _ session: SyncSession, _ body: @escaping @Sendable (SyncCore) -> Void
  ) {
    signals.change { $0.sessionThreads += 1 }
    let isStarted = run(name) { core in
      body(core)
      core.signals.change { $0.sessionThreads -= 1 }
    }
    guard !isStarted else { return }
    signals.change { $0.sessionThreads -= 1 }
    session.end()
  }

  /// Begins to notify the threads of changes of the file, unless that has begun.
  ///
  /// - Throws: ``Trouble`` if no thread can be started.
  func noticeChanges(_ path: String) throws {
    guard ends.withLock({ $0.observation == nil }) else { return }
    let requests = PosixMutex(Requests(path))
    do throws(Errno) {
      let observation = try FolderWatch.observe(path) { [signals, reports] changes in
        let isAsked = changes.contains(.lockText) && requests.withLock { $0.isNew() }
        // Whoever asked waits for the answer, also if it is as before.
        if isAsked { reports.expire() }
        signals.change { state in
          if changes.contains(.file) { state.fileChanges += 1 }
          if changes.contains(.lock) { state.lockChanges += 1 }
          if isAsked { state.wakes += 1 }
        }
      }
      ends.withLock { $0.observation = observation }
    } catch { throw Trouble.noThread(error) }
    if isStopping { end() }
  }
}

/// What other processes ask of those that send, or would.
private struct Requests {
  private let path: String
  private var last: [UInt8]

  init(_ path: String) {
    self.path = path
    last = SenderLock.retryRequest(besides: path)
  }

  /// Whether somebody has asked since the last call.
  mutating func isNew() -> Bool {
    let now = SenderLock.retryRequest(besides: path)
    defer { last = now }
    return now != last
  }
}
