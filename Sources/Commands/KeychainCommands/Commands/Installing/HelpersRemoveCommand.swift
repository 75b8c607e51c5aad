internal import ArgumentParser
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// Removes links.
struct HelpersRemoveCommand: HelpersSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove the links by which git and docker find this program",
    usage: usage("helpers remove [<name>]... [--folder <dir>]"),
    discussion: """
      A file that is not a link to this program stays. Take the helper out of the configuration of its \
      client, too.

      Example:
        \(keychainPath) helpers remove docker
      """,
    aliases: ["rm", "uninstall"])

  @OptionGroup var options: HelperLinkOptions

  @OptionGroup(title: "Common options") var common: HelpersCommonOptions

  func perform(
    _ context: KeychainCommandContext, _ interface: UserInterface
  ) throws(KeychainError) {
    let links = try options.links(InstalledHost(context))
    for link in links where link.state == .foreign { throw .foreignHelper(link.path) }
    for link in links {
      interface.say(
        try link.remove() ? "removed \(link.path)" : "\(link.path) is not there")
    }
  }
}
