internal import KeychainCredentials

extension UserInterface {
  /// That a list is empty, by what was asked for.
  ///
  /// - Parameters:
  ///   - query: The conditions of the search.
  ///   - filter: What was selected of what it found.
  ///   - isNarrower: Whether there were more conditions.
  /// - Returns: The sentence.
  static func nothingListed(
    _ query: CredentialQuery, _ filter: ListFilterOptions, isNarrower: Bool
  ) -> String {
    let names = [
      query.account.map { "account '\($0)'" }, query.service.map { "service '\($0)'" },
      query.server.map { "server '\($0)'" },
      query.accessGroup.flatMap { $0.isEmpty ? nil : "access group '\($0)'" },
    ].compactMap(\.self)
    let subject = names.isEmpty ? "" : " of the \(names.joined(separator: " and the "))"
    let which = isNarrower ? " that matches" : ""
    if filter.isActive {
      let time = filter.expiringWithin.map { "expires within \(DurationText.text($0))" }
      return "no credential\(subject)\(which) \(isNarrower ? "and " : "")\(time ?? "has expired")"
    }
    return "there is no credential\(subject)\(which)"
  }
}
