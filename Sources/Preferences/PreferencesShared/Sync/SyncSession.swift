internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// The time in which a process has the lock, and sends and receives.
///
/// The receiver and the sender have a thread each. Either ends the session for both.
final class SyncSession: Sendable {
  let replica: SharedReplica
  let client: EtcdClient
  let layout: StoreLayout
  let options: SyncOptions
  let signals: SyncSignals
  let reports: SyncReports

  /// Tells all processes that the engine has taken changes.
  let announce: @Sendable () -> Void

  /// What the store learns about this machine.
  let notice = MachineNotice()

  /// Ends every call of the session.
  let cancellation = EtcdCancellation()

  private struct Connection {
    /// Ends the watch.
    var cancellation: EtcdCancellation?
    /// What the store is known by, and the row `floor`.
    var identity: [UInt8]?
    var floorRow: [UInt8]?
  }

  private let connection = PosixMutex(Connection())
  private let lostFile = PosixMutex(false)

  init(
    _ replica: SharedReplica, _ client: EtcdClient, _ layout: StoreLayout, _ options: SyncOptions,
    _ signals: SyncSignals, _ reports: SyncReports, announce: @escaping @Sendable () -> Void
  ) {
    self.replica = replica
    self.client = client
    self.layout = layout
    self.options = options
    self.signals = signals
    self.reports = reports
    self.announce = announce
  }

  var isEnding: Bool { signals.read { $0.isEnding || $0.isStopping } }

  func end() {
    signals.change { $0.isEnding = true }
    cancellation.cancel()
    connection.withLock { $0.cancellation }?.cancel()
  }

  /// Whether the session has ended because the file is shared otherwise, or not any more.
  var hasLostFile: Bool { lostFile.withLock { $0 } }

  /// Ends the session if an error says that the file is shared otherwise than when it began.
  ///
  /// - Returns: Whether it does.
  func endsBecause(of error: any Error) -> Bool {
    guard (error as? PreferencesError)?.code == .notFound else { return false }
    lostFile.withLock { $0 = true }
    end()
    return true
  }

  /// Why reading the store failed; a refusal names the user and the store.
  func trouble(_ error: any Error) -> Trouble {
    guard (error as? EtcdError)?.code == .permissionDenied else { return Trouble(error) }
    return Trouble(.permissionDenied, layout.noRights(of: client.configuration.user))
  }

  /// Waits for the next attempt, or until somebody asks for one.
  func pause(_ duration: Duration) {
    let wakes = signals.read { $0.wakes }
    signals.wait(duration) { $0.isEnding || $0.isStopping || $0.wakes != wakes }
  }

  // MARK: - Connection

  var identity: [UInt8]? { connection.withLock { $0.identity } }

  var floorRow: [UInt8]? {
    get { connection.withLock { $0.floorRow } }
    set { connection.withLock { $0.floorRow = newValue } }
  }

  /// Returns what ends the watch of a new connection.
  func beginConnection() -> EtcdCancellation {
    let new = EtcdCancellation()
    connection.withLock { $0.cancellation = new }
    // It may have been asked to end before it could be told.
    if isEnding { new.cancel() }
    return new
  }

  func isConnected(identity: [UInt8], floorRow: [UInt8]?) {
    connection.withLock { connection in
      connection.identity = identity
      connection.floorRow = floorRow
    }
  }

  /// Lets the receiver read everything anew.
  ///
  /// - Returns: The number of the request, which ``SyncSignals/State/lastReading`` reaches.
  @discardableResult
  func requestReading() -> Int {
    let number = signals.change { state in
      state.readings += 1
      state.isInStep = false
      return state.readings
    }
    connection.withLock { $0.cancellation }?.cancel()
    return number
  }
}
