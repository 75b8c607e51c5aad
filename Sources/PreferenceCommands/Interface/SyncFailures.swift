internal import PrephirencesCommandLine

// The failures of the commands for shared suites.
extension CommandLineError {
  static func sharedElsewhere(_ suite: String, _ address: String) -> Self {
    Self(
      ExitCodes.tryAgain, "the preferences '\(suite)' are shared at \(address)",
      hint: "add --overwrite to share them elsewhere instead")
  }

  static func unsentWouldBeLost(_ suite: String, _ count: Int, _ path: String) -> Self {
    Self(
      ExitCodes.refused,
      "\(Words.counted(count, "key")) of '\(suite)' \(Words.are(count)) not sent yet; nothing was "
        + "changed",
      hint: "'\(path) now' sends them; --yes keeps them on this machine alone")
  }
}
