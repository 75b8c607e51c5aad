internal import Foundation
internal import PrephirencesCommandLine

/// Where clients are told to use a host's helpers; nothing is changed.
struct ClientConfiguration {
  /// A place that names a helper.
  struct Place {
    /// The path of a file, or git's name of a setting.
    let name: String

    /// Whether the client runs the link, and not the command itself.
    var runsLink = true
  }

  let host: InstalledHost

  /// Returns the places that name a helper.
  func places(naming helper: HelperProgram) -> [Place] {
    switch helper {
    case .git: gitSettings
    case .docker:
      ((dockerFiles + containerFiles).filter(namesHostInJSON) + registryFiles).map {
        Place(name: $0)
      }
    }
  }

  // MARK: - git

  private var gitSettings: [Place] {
    guard let git = host.search.program("git"),
      let run = ProgramRun(
        git, ["config", "--null", "--get-regexp", "^credential\\..*helper$"], within: .seconds(5))
    else { return [] }
    return run.output.split(separator: "\0").compactMap { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1)
      guard parts.count == 2, let runsLink = runsLink(String(parts[1])) else { return nil }
      return Place(name: String(parts[0]), runsLink: runsLink)
    }
  }

  /// Returns whether a value of git's setting runs the link, or the command itself; `nil` if neither.
  private func runsLink(_ value: String) -> Bool? {
    let words = value.split(separator: " ").map(String.init)
    guard let first = words.first else { return nil }
    let link = HelperProgram.git.linkName(of: host.name)
    if first == host.name || PathText.name(of: first) == link { return true }
    let isCommand =
      value.hasPrefix("!") && words.contains(HelperProgram.git.command)
      && PathText.name(of: String(first.dropFirst())) == host.name
    return isCommand ? false : nil
  }

  // MARK: - docker and its relatives

  private var dockerFiles: [String] {
    [Environment.value("DOCKER_CONFIG") ?? inHome(".docker")].compactMap { $0 }
      .map { $0 + "/config.json" }
  }

  private var containerFiles: [String] {
    [
      Environment.value("REGISTRY_AUTH_FILE"),
      Environment.value("XDG_RUNTIME_DIR").map { $0 + "/containers/auth.json" },
      (Environment.value("XDG_CONFIG_HOME") ?? inHome(".config")).map {
        $0 + "/containers/auth.json"
      },
    ].compactMap { $0 }
  }

  private var registryFiles: [String] {
    // This file is looked for in the home folder, whatever XDG_CONFIG_HOME says.
    let usual = [inHome(".config/containers/registries.conf"), "/etc/containers/registries.conf"]
    let files = Environment.value("CONTAINERS_REGISTRIES_CONF").map { [$0] } ?? usual
    return files.compactMap { $0 }.filter { path in
      text(path)?.split(separator: "\n").contains {
        $0.hasPrefix("credential-helpers") && $0.contains("\"\(host.name)\"")
      } ?? false
    }
  }

  private func inHome(_ name: String) -> String? {
    Environment.value("HOME").map { $0 + "/" + name }
  }

  private func namesHostInJSON(_ path: String) -> Bool {
    guard let data = FileManager.default.contents(atPath: path),
      let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return false }
    let helpers = (object["credHelpers"] as? [String: String])?.values.map { $0 } ?? []
    return (helpers + [object["credsStore"] as? String].compactMap { $0 }).contains(host.name)
  }

  private func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
