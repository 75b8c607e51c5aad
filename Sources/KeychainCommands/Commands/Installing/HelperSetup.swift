internal import PrephirencesCommandLine

/// What a person puts into the configuration of a client.
///
/// Nothing is put there automatically: these files belong to the clients, and some are shared with
/// other machines.
struct HelperSetup {
  let host: String

  /// Returns the lines about a client.
  func text(_ helper: HelperProgram) -> String {
    switch helper {
    case .git:
      """
      git:
        git config --global credential.helper \(host)

      """
    case .docker:
      """
      docker, helm: in ~/.docker/config.json, for all registries or for one
        { "credsStore": "\(host)" }
        { "credHelpers": { "registry.example.com": "\(host)" } }
      podman, skopeo, buildah: in ~/.config/containers/registries.conf
        credential-helpers = ["\(host)"]

      """
    }
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
