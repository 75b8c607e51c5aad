internal import Foundation
internal import KeychainCredentials
internal import KeychainStores

/// The number of credentials that need a new secret soon, if they can be read without unlocking.
struct ExpirySummary: Hashable, Sendable {
  /// The number of days that count as soon.
  static let days = 30

  let expiredCount: Int

  /// The number of those that will expire within ``days``.
  let expiringCount: Int

  /// The number of locked credentials, whose expiry is not known.
  let unknownCount: Int

  /// Whether some of them are in a named access group, which `list` shows only on request.
  let needsAllGroups: Bool

  /// Whether anything should be done.
  var needsAttention: Bool { expiredCount + expiringCount > 0 }

  init(_ found: CredentialSearchResult, now: Date = Date()) {
    let soon = now.addingTimeInterval(Double(Self.days) * 86_400)
    let all = found.credentials.filter { $0.isExpired(at: soon) }
    expiredCount = all.count { $0.isExpired(at: now) }
    expiringCount = all.count - expiredCount
    unknownCount = found.lockedCount
    needsAllGroups = all.contains { !$0.identity.accessGroup.isEmpty }
  }

  /// Counts the credentials of a service, or all that the host shows; `nil` if no credential can be
  /// read.
  init?(_ session: Session, service: ServiceName?) {
    let query = service?.query ?? session.context.narrow(CredentialQuery())
    guard let found = session.stores.glance(query, .whole) else { return nil }
    self.init(found)
  }
}
