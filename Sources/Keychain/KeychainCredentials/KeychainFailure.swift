/// An error that is caused by a failure of a store.
package protocol KeychainFailure: Error {
  /// The failure of the store, with what to do next.
  var failure: KeychainError { get }
}
