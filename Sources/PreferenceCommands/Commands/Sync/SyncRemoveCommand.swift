internal import ArgumentParser
internal import Prephirences
internal import PrephirencesCommandLine
internal import PrephirencesDurable
internal import PrephirencesShared

/// Ends the sharing of a suite.
struct SyncRemoveCommand: SyncSubcommand {
  static let spellings = ["remove", "rm"]

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
    if try replica.isShared() {
      let count = try replica.state().unsentKeys
      guard count == 0 || yes else {
        throw CommandLineError.unsentWouldBeLost(suite, count, session.path)
      }
    }
    try SharingConfiguration.remove(suiteName: suite)
    if try replica.isShared() { try replica.unshare() }
    session.interface.say("'\(suite)' is no longer shared")
  }

  /// The file, also if its settings cannot be used.
  private func replica(_ session: SharingSession) throws -> SharedReplica {
    do {
      return try session.suite(suite).replica
    } catch let error as PreferencesError where error.code == .invalidAddress {
      return SharedReplica(DurablePreferences(suiteName: suite))
    }
  }
}
