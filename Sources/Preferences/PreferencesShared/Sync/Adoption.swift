internal import PreferencesDurable
internal import Prephirences
internal import PrephirencesEtcd
internal import PrephirencesSystem

/// Takes the identity of the store that the engine has.
struct Adoption {
  let core: SyncCore

  func perform(_ deadline: Deadline) throws(PreferencesError) {
    do {
      while true {
        if let identity = try readIdentity(deadline) {
          guard try core.replica.state().identity != identity else { return }
          try core.replica.adopt(identity: identity)
          // Whoever sends waits for this.
          return SenderLock.requestRetry(besides: try core.replica.filePath())
        }
        try createIdentity(deadline)
      }
    } catch let error as EtcdError {
      throw PreferencesError(error)
    } catch {
      throw error as? PreferencesError
        ?? PreferencesError(.inputOutput, "the store was not adopted: \(type(of: error))")
    }
  }

  private func readIdentity(_ deadline: Deadline) throws -> [UInt8]? {
    let answer = try core.client.range(.one(core.layout.identity), deadline: deadline)
    guard let row = answer.rows.first else { return nil }
    guard StoreRow.isIdentity(row.value) else {
      throw PreferencesError(
        .unsupportedFormat,
        "the identity of the engine's store is damaged, or was written by a newer release")
    }
    return row.value
  }

  /// Gives the store an identity, unless another machine does so first.
  private func createIdentity(_ deadline: Deadline) throws {
    let key = core.layout.identity
    let transaction = EtcdTransaction(
      compares: [.absent(key)], success: [.put(key: key, value: StoreRow.newIdentity())])
    do throws(EtcdError) {
      _ = try core.client.perform(transaction, deadline: deadline)
    } catch {
      // Whether it happened is seen by the next look, unless the deadline has passed.
      guard error.mayHaveHappened, !deadline.hasPassed else { throw error }
    }
  }
}
