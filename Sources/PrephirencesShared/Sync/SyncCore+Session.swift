internal import PrephirencesDurable
internal import PrephirencesFiles

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
    ends.withLock { $0.session = session }
    if isStopping { session.end() }
    runInSession("prefs-receive", session) { _ in
      Receiver(session: session).run()
      session.end()
    }
    let request = PosixMutex(lock.retryRequest)
    runInSession("prefs-file", session) { core in
      core.noticeChanges(path) {
        let now = lock.retryRequest
        let isNew = request.withLock { last in
          defer { last = now }
          return last != now
        }
        if isNew { core.signals.change { $0.wakes += 1 } }
        return core.signals.read { $0.isEnding }
      }
    }
    var sender = Sender(session)
    sender.run()
    session.end()
    let watches = ends.withLock { ends in
      ends.session = nil
      return ends.watches
    }
    for watch in watches { watch.cancel() }
    // With the lock, nobody else may still use the file for this process.
    signals.wait(nil) { $0.sessionThreads == 0 }
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

  /// Tells the other threads of changes of the file, until `isDone` says that it is enough.
  func noticeChanges(_ path: String, _ isDone: () -> Bool) {
    let isOnNetwork = FileSystemKind(of: path).isNetwork
    while !isStopping, !isDone() {
      let watch = try? FileWatch(
        withSuffixes: ["-lock", SenderLock.suffix], noticesEachWrite: true
      ) {
        path
      }
      guard let watch else {
        signals.wait(.seconds(1)) { $0.isStopping || $0.isEnding }
        signals.change { $0.fileChanges += 1 }
        continue
      }
      watched(watch) {
        // What was changed before is noticed, too.
        repeat {
          signals.change { $0.fileChanges += 1 }
        } while !isDone() && watch.wait(isOnNetwork ? 1000 : 60_000) == .changed && !isStopping
      }
    }
  }
}
