internal import Glibc
internal import KeychainCredentials
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// A command that another program calls for a credential: git, docker.
///
/// The client waits for it, and often nobody sees it. So the whole call has a deadline, questions
/// included, and a failure is also answered in the client's own words: by ``reply(to:)``.
protocol HelperCommand: KeychainSubcommand {
  /// Whether the client lets its helpers ask on the terminal.
  var mayAskOnTerminal: Bool { get }
}

extension HelperCommand {
  var mayAskOnTerminal: Bool { true }

  var asking: Asking {
    Asking(
      onTerminal: mayAskOnTerminal, deadline: Deadline(after: common.deadline ?? usualTime))
  }

  /// As long as a person may take for an answer elsewhere.
  private var usualTime: Duration { .seconds(120) }

  /// Whether the unlocking passphrase would be read from the stream that has the request.
  var readsRequestTwice: Bool { common.unlockDescriptor == STDIN_FILENO }
}
