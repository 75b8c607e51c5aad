internal import ArgumentParser
internal import PrephirencesCommandLine

/// The options for the form in which values are printed.
struct ReadFormOptions: ParsableArguments {
  @Flag(help: "Print JSON")
  var json = false

  @Flag(help: "Print an XML property list")
  var plist = false

  @Flag(help: "Print the bytes of text or data, without a newline")
  var raw = false

  func validate() throws {
    guard [json, plist, raw].count(where: { $0 }) <= 1 else {
      throw ValidationError(PreferenceUsageText.oneForm)
    }
  }
}
