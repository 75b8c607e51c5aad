/// What the manual pages of a library's commands have in common.
package struct CommonManual {
  /// The words of the command whose page has the environment and the files, and to which the others
  /// refer; `nil` if each has them.
  package let mainPage: [String]?

  package let environment: [(name: String, meaning: String)]
  package let files: [(path: String, meaning: String)]
  package let exitCodes: [(code: Int32, meaning: String)]

  package init(
    mainPage: [String]?, environment: [(name: String, meaning: String)],
    files: [(path: String, meaning: String)], exitCodes: [(code: Int32, meaning: String)]
  ) {
    self.mainPage = mainPage
    self.environment = environment
    self.files = files
    self.exitCodes = exitCodes
  }
}
