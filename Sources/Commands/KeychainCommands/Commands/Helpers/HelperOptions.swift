internal import ArgumentParser
internal import PrephirencesCommandLine

/// The options of every helper: which credentials it gives to its client.
struct HelperOptions: QuickArguments {
  @Option(
    name: [.customShort("g"), .long], parsing: .unconditional,
    help: .init("The access group (default: the unnamed one)", valueName: "name"),
    completion: .accessGroups)
  var accessGroup: String?

  mutating func read(_ line: inout QuickLine) throws {
    accessGroup = try line.option("access-group", "g")
  }
}
