internal import KeychainCredentials

extension ItemFinder {
  /// Finds the collection, or creates it.
  static func creating(_ operation: ServiceOperation) throws(KeychainError) -> ItemFinder {
    if let path = try operation.collectionPath() {
      let finder = ItemFinder(operation: operation, collection: path)
      do throws(KeychainError) {
        try finder.unlockIfNeeded()
        return finder
      } catch {
        guard error == operation.noCollection else { throw error }
      }
    }
    try operation.createCollection()
    return try ItemFinder(operation)
  }
}

extension ServiceOperation {
  /// Creates the collection, if the provider can do that without asking, or may ask.
  fileprivate func createCollection() throws(KeychainError) {
    let label: String
    switch configuration.collection {
    case .default: label = "Default keyring"
    case .session: throw noCollection
    case .named(let name) where ServiceOperation.isPath(name): throw noCollection
    case .named(let name): label = name
    }
    let answer = try answer(
      to: service(
        "CreateCollection",
        [
          .properties([(Self.collectionInterface + ".Label", .string(label))]),
          .string(configuration.collection == .default ? "default" : ""),
        ], reply: .values("oo"))
    ).elements
    guard answer.count == 2, let prompt = answer[1].text else { throw noCollection }
    guard prompt != "/" else { return }
    try run(
      prompt: prompt,
      .lasting { operation throws(KeychainError) in _ = try ItemFinder.creating(operation) },
      ifDenied: noCollection)
  }
}
