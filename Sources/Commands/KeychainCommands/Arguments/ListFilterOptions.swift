internal import ArgumentParser
internal import Foundation
internal import KeychainCredentials
internal import PrephirencesCommandLine

/// The conditions of `list` that a search does not support.
struct ListFilterOptions: ParsableArguments {
  @Flag(help: "Only those that have expired, the first to expire first")
  var expired = false

  @Option(
    help: .init(
      "Only those that have expired or do so within a time such as 30d, in that order",
      valueName: "time"),
    transform: ListFilterOptions.time)
  var expiringWithin: Duration?

  /// Whether credentials are selected by expiry.
  var isActive: Bool { expired || expiringWithin != nil }

  func validate() throws {
    if expired && expiringWithin != nil {
      throw ValidationError(UsageText.expiredOrExpiring)
    }
  }

  /// Returns the date until which a listed credential expires; `nil` if expiry doesn't matter.
  private func limit(from now: Date) -> Date? {
    if expired { return now }
    return expiringWithin.map { now.addingTimeInterval($0 / .seconds(1)) }
  }

  /// Returns the selected credentials, in the order of the list.
  func selection(of credentials: [Credential], now: Date = Date()) -> [Credential] {
    guard let limit = limit(from: now) else { return credentials }
    // Sorting is stable: credentials that expire at the same time keep their order.
    return credentials.filter { $0.isExpired(at: limit) }
      .sorted { ($0.expires ?? .distantFuture) < ($1.expires ?? .distantFuture) }
  }

  private static func time(_ text: String) throws -> Duration {
    guard let time = DurationText.parse(text) else {
      throw ValidationError(UsageText.timeFromNow)
    }
    return time
  }
}

extension NamePattern {
  /// Returns whether a name of a credential matches: the account, the label, and the service or
  /// server unless the search has one.
  func matches(_ credential: Credential, foundBy query: CredentialQuery) -> Bool {
    var names = [credential.identity.account, credential.label].compactMap(\.self)
    if query.service == nil && query.server == nil {
      switch credential.identity.kind {
      case .genericPassword(let service, _): names.append(service)
      case .internetPassword(let password): names.append(password.server)
      }
    }
    return names.contains(where: matches)
  }
}
