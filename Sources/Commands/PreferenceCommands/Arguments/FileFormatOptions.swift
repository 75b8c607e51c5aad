internal import ArgumentParser
internal import PrephirencesSystem

/// The options for the format of a file.
struct FileFormatOptions: ParsableArguments {
  @Flag(help: "The file is JSON")
  var json = false

  @Flag(help: "The file is a property list")
  var plist = false

  func validate() throws {
    guard !json || !plist else { throw ValidationError(PreferenceUsageText.oneFormat) }
  }

  /// The format that is named; `nil` if none is.
  var chosen: FileFormat? { json ? .json : plist ? .propertyList : nil }
}
