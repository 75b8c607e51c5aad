internal import PrephirencesCommandLine

/// What a person puts into the configuration of a client.
///
/// Nothing is put there automatically: these files belong to the clients, and some are shared with
/// other machines.
struct HelperSetup {
  let host: String

  /// Returns the lines about the client that runs a link.
  func text(_ link: HelperLink) -> String {
    switch link.helper {
    case .git:
      """
      git: one of these; the second also where PATH lacks the folder, as in cron
        git config --global credential.helper \(ShellText.quoted(host))
        git config --global credential.helper \(ShellText.quoted(Self.gitCommand(link.path)))

      """
    case .docker:
      """
      docker, helm: in ~/.docker/config.json, for all registries or for one
        { "credsStore": "\(host)" }
        { "credHelpers": { "registry.example.com": "\(host)" } }
      podman, skopeo, buildah: in ~/.config/containers/registries.conf, before the first [table]
        credential-helpers = ["\(host)"]
      All of them look in PATH only: cron and services need \(link.folder) there

      """
    }
  }

  /// The value by which git runs a program: a shell of its own reads it, and a path is one only if it
  /// begins with a slash.
  private static func gitCommand(_ path: String) -> String {
    let word = ShellText.quoted(path)
    return word == path ? path : "!" + word
  }

  /// What needs no link.
  var swiftPM: String {
    """
    SwiftPM: no link and no file
      \(KeychainCommandContext.current.commandPath) run --netrc HOST -- \
    swift package --netrc-file @netrc@ resolve

    """
  }
}
