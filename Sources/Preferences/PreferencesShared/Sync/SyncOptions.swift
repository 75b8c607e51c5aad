package import Prephirences

/// How a worker works; the numbers are others in tests.
package struct SyncOptions: Sendable {
  /// How many removals the engine keeps.
  package var greatestRemovals = 10_000
  package var leastBackoff = Duration.milliseconds(100)
  package var greatestBackoff = Duration.seconds(30)
  /// After how long a process without a password tries again.
  package var pauseWithoutPassword = Duration.seconds(120)
  /// How many rows are compared on the connection of the file that the program uses.
  ///
  /// More of them are compared on another one, so that the program's reads don't wait meanwhile.
  package var greatestRowsTogether = 200
  /// Where the worker sends to, as the settings of the file have it; it does nothing while these name
  /// another place.
  package var place: String?
  /// The name that the store has of this machine.
  package var machine = MachineRow.hostName
  /// Called on a thread of the worker when the file is not shared at its place, once for each way in
  /// which it is shared otherwise.
  package var didLoseFile: (@Sendable () -> Void)?
  /// Called on a thread of the worker when it has recorded how the file stands with the engine, or with
  /// the reason why it could not.
  package var didReport: (@Sendable (SharingReport, _ unrecorded: PreferencesError?) -> Void)?
  /// Called on a thread of the worker when it has begun, or ended, to send and receive.
  package var didTakeTurn: (@Sendable (Bool) -> Void)?
  package init() {}
}
