internal import ArgumentParser
internal import PreferencesDurable
internal import PreferencesShared
internal import Prephirences
internal import PrephirencesCommandLine

/// Ends the sharing of a suite.
struct SyncRemoveCommand: SyncSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Stop sharing the preferences of a program",
    discussion: """
      The values stay, on this machine and in the store. Programs that share the suite keep it in step \
      until they end.

      Example:
        \(preferencesPath) sync remove com.example.web
      """,
    aliases: ["rm"])

  @Argument(help: "The suite", completion: .sharedSuites)
  var suite: String

  @Flag(name: .shortAndLong, help: "Also if changes have not been sent")
  var yes = false

  @OptionGroup(title: "Common options") var options: SyncCommonOptions

  func perform(in session: SharingSession) throws {
    let replica = try replica(session)
    let count = try replica.unshare(losesUnsent: yes)
    guard count == 0 || yes else {
      throw CommandLineError.unsentWouldBeLost(
        suite, count, session.path, isReadOnly: try replica.state().isReadOnly)
    }
    try SharingConfiguration.remove(suiteName: suite)
    // A program may have begun again, before the settings were gone.
    try replica.unshare()
    session.interface.say("'\(suite)' is no longer shared")
  }

  /// The file, also if its settings cannot be used, or are missing.
  private func replica(_ session: SharingSession) throws -> SharedReplica {
    let replica = SharedReplica(DurablePreferences(suiteName: suite))
    do {
      _ = try session.suite(suite)
    } catch let error as PreferencesError where error.code == .invalidAddress {
    } catch {
      guard try replica.isShared() else { throw error }
    }
    return replica
  }
}
