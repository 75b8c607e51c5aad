/// An error that has a failure of a store behind it, for programs that report either.
package protocol KeychainFailure: Error {
  /// What failed and what to do next, with the code of the failure behind it.
  var failure: KeychainError { get }
}
