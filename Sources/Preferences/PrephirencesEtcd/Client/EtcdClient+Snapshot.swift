package import PrephirencesSystem

extension EtcdClient {
  /// Reads a range of any length in pages, all at the revision of the first.
  ///
  /// Pages that are too large are read in smaller ones.
  ///
  /// - Returns: The header of the first page, whose revision all pages have.
  package func snapshot(
    _ keys: EtcdKeys, pageLimit: Int64 = 256, deadline: Deadline,
    cancellation: EtcdCancellation? = nil, page: ([EtcdRow]) throws -> Void
  ) throws -> EtcdHeader {
    guard let end = keys.end else {
      let answer = try range(keys, deadline: deadline, cancellation: cancellation)
      try page(answer.rows)
      return answer.header
    }
    var header: EtcdHeader?
    var start = keys.key
    var limit = max(pageLimit, 1)
    while true {
      let answer = try pageOrNone(
        .from(start, to: end), header?.revision ?? 0, limit, deadline, cancellation)
      guard let answer else {
        limit = max(limit / 4, 1)
        continue
      }
      let first = header ?? answer.header
      header = first
      try page(answer.rows)
      guard answer.hasMore else { return first }
      guard let last = answer.rows.last, !last.key.lexicographicallyPrecedes(start) else {
        throw EtcdError.malformed
      }
      start = last.key + [0]
    }
  }

  /// Returns a page; `nil` if a smaller one should be read.
  private func pageOrNone(
    _ keys: EtcdKeys, _ revision: Int64, _ limit: Int64, _ deadline: Deadline,
    _ cancellation: EtcdCancellation?
  ) throws(EtcdError) -> EtcdRangeAnswer? {
    do throws(EtcdError) {
      return try range(
        keys, revision: revision, limit: limit, deadline: deadline, cancellation: cancellation)
    } catch {
      guard error.code == .tooLarge, limit > 1 else { throw error }
      return nil
    }
  }
}
