internal import KeychainCredentials

/// Finds items in the store's collection.
struct ItemFinder {
  let operation: ServiceOperation
  let collection: String

  /// Finds the collection.
  ///
  /// It is unlocked when its items are needed.
  init(_ operation: ServiceOperation) throws(KeychainError) {
    self.operation = operation
    guard let path = try operation.collectionPath() else { throw operation.noCollection }
    collection = path
  }

  init(operation: ServiceOperation, collection: String) {
    self.operation = operation
    self.collection = collection
  }

  var lockedQuestion: BusCall {
    operation.getProperty(collection, ServiceOperation.collectionInterface, "Locked", "b")
  }

  func search(_ attributes: CredentialAttributes) -> BusCall {
    operation.call(
      collection, ServiceOperation.collectionInterface, "SearchItems", [.stringPairs(attributes)],
      reply: .values("ao"))
  }

  /// Unlocks the collection if it is locked.
  ///
  /// Locked providers show no items (KeePassXC), or hide their attributes (gnome-keyring), so no
  /// item can be considered missing.
  func unlockIfNeeded() throws(KeychainError) {
    if try isLocked(operation.results(of: [lockedQuestion])) { try operation.unlock(collection) }
  }

  /// Returns the paths of the items that match each set of attributes.
  func paths(_ searches: [CredentialAttributes]) throws(KeychainError) -> [[String]] {
    let calls = [lockedQuestion] + searches.map { search($0) }
    var answers = operation.results(of: calls)
    if try isLocked(answers) {
      try operation.unlock(collection)
      answers = operation.results(of: calls)
      guard try !isLocked(answers) else { throw .lockedKeyring }
    }
    return try answers.dropFirst().map { answer throws(KeychainError) in
      try value(answer).elements.first?.texts ?? []
    }
  }

  /// Reads items; those that were removed meanwhile are left out.
  ///
  /// For our items, one property is enough; providers return the others slowly.
  func items(_ paths: [String]) throws(KeychainError) -> [ServiceItem] {
    guard paths.count <= BusValue.maximumElementCount else { throw .tooManyItems }
    let items = try read(paths, attributes(of:)) { path, answer in
      ServiceItem(path: path, attributes: answer)
    }
    let others = try read(
      items.filter { $0.ours == nil }.map(\.path),
      operation.getProperties(ofItem:),
      { path, answer in ServiceItem(path: path, properties: answer) })
    return items.filter { $0.ours != nil } + others
  }

  func attributes(of path: String) -> BusCall {
    operation.getProperty(path, ServiceOperation.itemInterface, "Attributes", "a{ss}")
  }

  private func read(
    _ paths: [String], _ call: (String) -> BusCall, _ item: (String, BusValue) -> ServiceItem
  ) throws(KeychainError) -> [ServiceItem] {
    let answers = try operation.manyResults(of: paths.map(call))
    var items: [ServiceItem] = []
    for (path, answer) in zip(paths, answers) {
      if case .failure(let error) = answer, error.isMissingObject { continue }
      items.append(item(path, try value(answer).elements.first ?? .other))
    }
    return items
  }

  /// Returns whether the collection is locked, from the first of some answers.
  func isLocked(_ answers: [BusAnswer]) throws(KeychainError) -> Bool {
    guard let first = answers.first else { return true }
    if case .failure(let error) = first, error.isMissingObject { throw operation.noCollection }
    return try value(first).elements.first?.bool ?? true
  }

  func value(_ answer: BusAnswer) throws(KeychainError) -> BusValue {
    try translated(bus: answer.get())
  }
}
