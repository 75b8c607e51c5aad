internal import Glibc
internal import PrephirencesFiles

// gnome-keyring registers its objects again when its files have changed, and answers in between that they
// don't exist.
extension ServiceOperation {
  /// In microseconds.
  private static let pausesForMissingObjects: [UInt32] = [5_000, 50_000]

  /// Waits for a moment and calls `body`, which asks again, up to two times while an object is missing.
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
  /// A call whose object is missing is made again after a moment. It did nothing. Those that follow it are
  /// made again, too, unless the calls are independent: a secret must not be read before the version that
  /// it is read with, or written after it. All calls that are sent together can be repeated, since they
  /// read or set values; what makes or removes an object is sent by itself.
  func results(
    of calls: [BusCall], areIndependent: Bool = false
  ) -> [Result<BusValue, BusError>] {
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
