internal import Foundation
internal import KeychainCredentials
internal import KeychainStores

/// How many credentials need a new secret soon, as far as can be read without unlocking.
struct ExpirySummary: Hashable, Sendable {
  /// How many days count as soon.
  static let days = 30

  let expiredCount: Int

  /// How many expire within ``days``, not counting those that have expired.
  let expiringCount: Int

  /// How many are locked, so their expiry is not known.
  let unknownCount: Int

  /// Whether some of the first two are in a named access group, which `list` shows only if asked.
  let needsAllGroups: Bool

  /// Whether there is something to do.
  var needsAttention: Bool { expiredCount + expiringCount > 0 }

  init(_ found: CredentialSearchResult, now: Date = Date()) {
    let soon = now.addingTimeInterval(Double(Self.days) * 86_400)
    let all = found.credentials.filter { $0.isExpired(at: soon) }
    expiredCount = all.count { $0.isExpired(at: now) }
    expiringCount = all.count - expiredCount
    unknownCount = found.lockedCount
    needsAllGroups = all.contains { !$0.identity.accessGroup.isEmpty }
  }

  /// Counts the credentials of a service, or all that the host shows; `nil` if none can be read.
  init?(_ session: Session, service: ServiceName?) {
    let query = service?.query ?? session.context.narrow(CredentialQuery())
    guard let found = session.stores.glance(query, .whole) else { return nil }
    self.init(found)
  }
}
