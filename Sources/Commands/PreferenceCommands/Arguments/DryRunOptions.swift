internal import ArgumentParser
internal import PrephirencesCommandLine
internal import PrephirencesSystem

/// The options that show changes instead of making them.
struct DryRunOptions: ParsableArguments {
  @Flag(help: "Change nothing; print what would change")
  var dryRun = false

  @Flag(name: .customLong("diff-json"), help: "With --dry-run, print that as JSON")
  var diffInJSON = false

  /// How what would change is printed; `nil` if it is changed.
  var form: ValueDifference.Form? { dryRun ? diffInJSON ? .json : .rows : nil }

  func validate() throws {
    guard dryRun || !diffInJSON else { throw ValidationError(PreferenceUsageText.diffOfDryRun) }
  }
}
