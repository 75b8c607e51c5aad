internal import Glibc
internal import PrephirencesSystem

// When its files have changed, gnome-keyring registers its objects again, and meanwhile answers
// that they don't exist.
extension ServiceOperation {
  /// In microseconds.
  private static let pausesForMissingObjects: [UInt32] = [5_000, 50_000]

  /// Calls `body`, and repeats it up to two times after a short pause while an object is missing.
  func whileMissing<E: Error>(
    _ isMissing: () -> Bool, _ body: () throws(E) -> Void
  ) throws(E) {
    for pause in Self.pausesForMissingObjects {
      guard isMissing(), !deadline.hasPassed else { return }
      usleep(pause)
      try body()
    }
  }

  /// Makes calls, which are sent together.
  ///
  /// A call whose object is missing has done nothing, and is repeated after a short pause. The
  /// calls after it are repeated, too, unless the calls are independent: a secret must not be read
  /// before its version, or written after it. All calls that are sent together can be repeated,
  /// because they read or set values; calls that create or remove an object are sent separately.
  func results(
    of calls: [BusCall], areIndependent: Bool = false
  ) -> [BusAnswer] {
    var results = connection.bus.results(of: calls, deadline)
    var missing: [Int] { results.indices.filter { results[$0].error?.isMissingObject ?? false } }
    whileMissing({ !missing.isEmpty }) {
      let repeated = areIndependent ? missing : Array(missing[0]..<calls.count)
      let answers = connection.bus.results(of: repeated.map { calls[$0] }, deadline)
      for (index, answer) in zip(repeated, answers) { results[index] = answer }
    }
    for case .failure(let error) in results { note(error) }
    return results
  }
}
