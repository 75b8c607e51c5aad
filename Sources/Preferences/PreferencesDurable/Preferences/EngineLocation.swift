internal import Foundation
internal import Prephirences
internal import PrephirencesSystem

/// Finds the engine of a suite when it is first used.
///
/// Unchecked because the lock guards the engine.
final class EngineLocation: @unchecked Sendable {
  private let suiteName: String
  private let folder: String?
  private let environment: EnvironmentVariables
  private let isOnNetwork: Bool?
  private let patience: Duration
  private let lock = NSLock()
  private var found: Engine?

  init(
    _ suiteName: String, _ folder: String?, _ environment: EnvironmentVariables,
    _ isOnNetwork: Bool?, _ patience: Duration
  ) {
    self.suiteName = suiteName
    self.folder = folder
    self.environment = environment
    self.isOnNetwork = isOnNetwork
    self.patience = patience
  }

  /// Returns the engine.
  ///
  /// - Throws: ``PreferencesError``; the next call tries again.
  func engine() throws(PreferencesError) -> Engine {
    try ForkGuard.check()
    if let found = lock.withLock({ found }) { return found }
    let file = try SuiteFile(
      suiteName: suiteName, folder: folder, environment: environment, isOnNetwork: isOnNetwork,
      patience: patience)
    let engine = Engines.shared.engine(of: file)
    lock.withLock { if found == nil { found = engine } }
    return engine
  }
}
